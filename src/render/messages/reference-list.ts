/** An entry of the answer's own list of references, where it stands (characters), and its number. */
export interface ReferenceEntry {
  from: number;
  to: number;
  number: number;
}

/** `[1] …`, `[^1]: …`, `**[1]** …`, `- [1] …`, and `1. …`, which begins the entries of any list. */
const ENTRY = /^[ \t>]{0,8}(?:[-*+][ \t]+)?[*_]{0,3}(?:\\?\[\^?(\d{1,3})\\?\](?!\()|(\d{1,3})[.)](?=[ \t]))/;
/** A line after the one before it that ends an entry: a heading, and what begins a paragraph of its own. */
const ENTRY_END = /\n {0,3}#{1,6}[ \t]|^[ \t]*\n[^ \t\n]/;
/** `[2]`, `[2, 3]`, `[2–5]` */
const CITATION = /\[\^?(\d[\d,;–\- ]{0,40})\]/g;

/**
 * The entries of the references that an answer numbers itself: its last numbered list whose entries have brackets or each
 * name a source (`sources`: where those stand, in order), or else one whose numbers its text cites. No words tell it, which differ
 * by language.
 */
export function numberedReferences(text: string, sources: readonly number[]): ReferenceEntry[] {
  const lists: (ReferenceEntry & { isCertain: boolean })[][] = [];
  let open: (ReferenceEntry & { isCertain: boolean }) | undefined;
  let at = 0;
  let seen = 0;
  let previous = '';
  for (const line of text.split('\n')) {
    const [, bracketed, plain] = ENTRY.exec(line) ?? [];
    const number = Number(bracketed ?? plain);
    if (!Number.isNaN(number)) {
      open = { from: at, to: at, number, isCertain: bracketed !== undefined };
      if (number > (lists.at(-1)?.at(-1)?.number ?? Number.POSITIVE_INFINITY)) lists.at(-1)?.push(open);
      else lists.push([open]);
    } else if (ENTRY_END.test(`${previous}\n${line}`)) open = undefined;
    while ((sources[seen] ?? Number.POSITIVE_INFINITY) < at + line.length) seen += 1;
    if (open !== undefined) open.to = at + line.length;
    if (open !== undefined && (sources[seen - 1] ?? -1) >= at) open.isCertain = true;
    at += line.length + 1;
    previous = line;
  }
  const cited = [...text.matchAll(CITATION)].flatMap(([, numbers = '']) => numbers.match(/\d{1,3}/g) ?? []);
  const citedNumbers = new Set(cited.map(Number));
  const many = lists.filter(({ length }) => length > 1);
  return (
    many.findLast((list) => list.every(({ isCertain }) => isCertain)) ??
    many.findLast((list) => list.some(({ number }) => citedNumbers.has(number))) ??
    []
  );
}
