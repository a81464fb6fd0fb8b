/** The most ids in one setting: the form carries them in its metadata. */
const MAX_BOTS = 50;

const NONE = 'none';

/** Bots and workflows as a form shows them: empty for the default, "none" for an empty list. */
export function formatBotList(bots: readonly string[] | null): string {
  if (bots === null) return '';
  return bots.length === 0 ? NONE : bots.join(', ');
}

/** Reads a list as `formatBotList` writes it: null for the default, undefined for text that is not a list of ids. */
export function parseBotList(typed: string): string[] | null | undefined {
  const entries = typed.split(/[,\s]+/).filter((entry) => entry !== '');
  if (entries.length === 0) return null;
  if (entries.length === 1 && entries[0]?.toLowerCase() === NONE) return [];
  const ids = [...new Set(entries)];
  return ids.length <= MAX_BOTS && ids.every((id) => /^B[A-Z0-9]{1,30}$/.test(id)) ? ids : undefined;
}
