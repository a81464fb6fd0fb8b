/** Ids that one setting names at most: they travel with the form. */
const MAX_BOTS = 50;

const NONE = 'none';

/** Bots and workflows as a form shows them: nothing where it is as usual, or the word none. */
export function formatBotList(bots: readonly string[] | null): string {
  if (bots === null) return '';
  return bots.length === 0 ? NONE : bots.join(', ');
}

/** What `botsText` says, read again from what somebody typed; undefined where that is anything else. */
export function parseBotList(typed: string): string[] | null | undefined {
  const entries = typed.split(/[,\s]+/).filter((entry) => entry !== '');
  if (entries.length === 0) return null;
  if (entries.length === 1 && entries[0]?.toLowerCase() === NONE) return [];
  const ids = [...new Set(entries)];
  return ids.length <= MAX_BOTS && ids.every((id) => /^B[A-Z0-9]{1,30}$/.test(id)) ? ids : undefined;
}
