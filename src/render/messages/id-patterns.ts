/** Finds of one kind in one text. */
export const MAX_FINDS = 2_000;

/** An id is no part of a name, a path, a file's name or an e-mail address; `_` may be the mark of emphasis. */
const BEFORE = '(?:(?<=doi\\.org/)|(?<![A-Za-z\\d/.@-]|\\w_))';
const AFTER = '(?![A-Za-z\\d%@]|[_.]\\w|/(?!ID))';
/** What stands between a word and its id in prose, Markdown, JSON and XML. */
const MARKS = '["\'`*_:：#=>()（[ \\t\\u200e\\u200f-]{1,8}';
/** What stands between the ids of a list. */
const SEPARATOR = /["'`*_)\]]{0,3}[ \t]{0,3}(?:(?:[,;/&、，；]|and\b|or\b)[ \t]{0,3}){1,2}["'`*_([]{0,3}/y;
/** What addresses and DOIs do not hold in prose, Markdown or JSON: spaces, quotes, brackets, punctuation beyond ASCII. */
const ENDS = '\\s<>"\'`{}[\\]|\\\\*\\u2000-\\u206f\\u3000-\\u303f\\uff00-\\uffef';
export const ADDRESS = new RegExp(`https?://(?:(?!&[lg]t;)[^${ENDS}^]|'(?=\\w{2})|\\\\[_()~]){1,2000}`, 'gi');
const PDB = '(?!\\d+(?:[KMGT]B|st|nd|rd|th)\\b)[1-9]';

/** Kinds of ids: the first of their `pages` is linked; further ones count as the same. */
export const ID_KINDS = [
  {
    id: `10\\.[1-9]\\d{3,4}(?:\\.\\d+)*/(?:\\(SICI\\)[!-z]{1,150}?;2-\\w|(?:[^${ENDS}\\u0080-\\uffff,;&?#%]|%[\\da-fA-F]{2}|\\\\[_()]){1,200})`,
    pages: ['doi.org/', 'dx.doi.org/'],
  },
  {
    word: '(?:PMIDs?|PubMed[ _-]?IDs?)(?: Version="\\d")?',
    id: '\\d{5,8}',
    // "and 50000 cells" may follow the first one.
    next: '\\d{7,8}',
    pages: ['pubmed.ncbi.nlm.nih.gov/', 'www.ncbi.nlm.nih.gov/pubmed/'],
  },
  {
    id: 'PMC\\d{5,8}',
    pages: ['pmc.ncbi.nlm.nih.gov/articles/', 'www.ncbi.nlm.nih.gov/pmc/articles/'],
  },
  { id: 'NCT\\d{8}', pages: ['clinicaltrials.gov/study/', 'clinicaltrials.gov/ct2/show/'] },
  { id: 'GSE\\d{3,6}', pages: ['www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc='] },
  // A table that a tool returns may have thousands, on which no answer rests.
  { id: 'rs\\d{4,10}', pages: ['www.ncbi.nlm.nih.gov/snp/'], isInTextOnly: true },
  // A digit and three characters with a letter among them; no ordinal and no size.
  {
    word: 'PDB(?:[ _-]?(?:IDs?|codes?|entry|entries|structures?))?',
    id: `${PDB}(?=\\d*[A-Z])[A-Z\\d]{3}`,
    pages: ['www.rcsb.org/structure/'],
  },
  {
    word: 'PDB[ _-]?(?:IDs?|codes?|entry|entries)',
    id: `${PDB}(?=\\d*[a-z])[a-z\\d]{3}`,
    pages: ['www.rcsb.org/structure/'],
  },
  {
    word: 'UniProt(?:KB)?(?:/Swiss-Prot|/TrEMBL)?(?:[ _-]?(?:IDs?|ACs?|accessions?|entry|entries))?',
    id: '(?:[OPQ]\\d[A-Z\\d]{3}\\d|[A-NR-Z]\\d(?:[A-Z][A-Z\\d]{2}\\d){1,2})',
    pages: ['www.uniprot.org/uniprotkb/', 'www.uniprot.org/uniprot/'],
  },
].map(({ id, next = id, word, pages, isInTextOnly }) => {
  // Two ids of one kind may share a slash.
  const after = AFTER.replace('ID', () => id);
  return {
    found:
      word === undefined ? new RegExp(`(?:${BEFORE}|(?<=(?<![\\w/])${id}/))${id}${after}`, 'g') : undefined,
    /** These ids mean something only after a word, alone or in a list. */
    listed:
      word === undefined
        ? undefined
        : {
            word: new RegExp(`${BEFORE}${word}${MARKS}`, 'gi'),
            column: new RegExp(`^${word}$`, 'i'),
            id: new RegExp(`${id}${after}`, 'y'),
            next: new RegExp(`${next}${after}`, 'y'),
          },
    whole: new RegExp(`^${id}$`),
    page: `https://${pages[0]}`,
    pages: pages.map(withoutWww),
    isInTextOnly: isInTextOnly === true,
  };
});

type IdKind = (typeof ID_KINDS)[number];

/** The ids of a kind in a text, and where they stand. */
export function idsIn(text: string, { found, listed }: IdKind): { at: number; id: string }[] {
  const ids: { at: number; id: string }[] = [];
  const add = (at: number, raw: string) => {
    const id = wholeName(text, at, raw);
    const isId = id !== undefined && !isDoubtful(id, text.slice(Math.max(0, at - 12), at));
    if (isId && ids.length < MAX_FINDS) ids.push({ at, id });
  };
  if (found !== undefined) for (const { 0: raw, index } of text.matchAll(found)) add(index, raw);
  if (listed === undefined) return ids;
  for (const { 0: word, index } of text.matchAll(listed.word)) {
    let at = index + word.length;
    let id = matchAt(listed.id, text, at);
    while (id !== '' && ids.length < MAX_FINDS) {
      add(at, id);
      at += id.length + matchAt(SEPARATOR, text, at + id.length).length;
      id = matchAt(listed.next, text, at);
    }
  }
  return ids;
}

/** What a sticky expression matches at a place; '' if nothing. */
function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

/** Whether a DOI may be a number and what it is divided by, or the name of a file; `before` is the text before it. */
function isDoubtful(id: string, before: string): boolean {
  const suffix = /^10\.[\d.]+\/(.*)$/.exec(id)?.[1];
  if (suffix === undefined) return false;
  if (/\.(?:pdf|html?|xml|json|txt|csv)$/i.test(suffix)) return true;
  if (/doi(?:\.org\/|\W{0,6})$/i.test(before)) return false;
  return suffix.length < 6 || !/\d/.test(suffix) || /^\d{0,5}(?:\.\d+)?$/.test(suffix);
}

/**
 * An address or an id without what follows it in a sentence: it ends before a bracket that it has not opened, and before
 * punctuation. Undefined if it is shortened or a template.
 */
export function wholeName(text: string, at: number, raw: string): string | undefined {
  let depth = 0;
  let end = 0;
  for (; end < raw.length; end += 1) {
    if (raw[end] === '(') depth += 1;
    if (raw[end] === ')') depth -= 1;
    if (depth < 0) break;
  }
  const name = raw.slice(0, end);
  const isLeft = text[at - 1] === '<' ? /[^>|]/ : /[…{]/;
  const isCut = end === raw.length && isLeft.test(text.charAt(at + end));
  if (isCut || /\.{3}$|\$/.test(name)) return undefined;
  return name.replace(/\\([_()~])/g, '$1').replace(/[.,:;!?_~(\\]+$/, '');
}

/** An address without the `www.` that many sites do not need. */
export function withoutWww(address: string): string {
  return address.replace(/^www\./, '');
}
