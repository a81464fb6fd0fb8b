/** Ids that one setting names at most: they travel with the form. */
const most = 50;

const none = 'none';

/** Bots and workflows as a form shows them: nothing where it is as usual, or the word none. */
export function botsText(bots: readonly string[] | null): string {
  if (bots === null) return '';
  return bots.length === 0 ? none : bots.join(', ');
}

/** What `botsText` says, read again from what somebody typed; undefined where that is anything else. */
export function readBots(typed: string): string[] | null | undefined {
  const words = typed.split(/[,\s]+/).filter((word) => word !== '');
  if (words.length === 0) return null;
  if (words.length === 1 && words[0]?.toLowerCase() === none) return [];
  const ids = [...new Set(words)];
  return ids.length <= most && ids.every((id) => /^B[A-Z0-9]{1,30}$/.test(id)) ? ids : undefined;
}
