import { NEXT_ADDRESS, PUNCTUATION, TITLE_END } from '../markdown/bare-address.ts';
import { balanced } from './doi.ts';

/** Finds of one kind in one text. */
export const MAX_FINDS = 2_000;

/** An id is no part of a name, a path, a file's name or an e-mail address; `_` may be the mark of emphasis, and `.2` a version. */
const BEFORE = '(?<![A-Za-z\\d/.@-]|\\w_)';
const AFTER = '(?![A-Za-z\\d%@]|_\\w|\\.(?!\\d{1,2}(?!\\w|\\.\\w))\\w|/(?!ID))';
/** What stands between a word and its id in prose, Markdown, JSON and XML. */
const MARKS = '["\'`*_:：#=>()（[{ \\t-]{1,12}';
/** What stands between the ids of a list: each may have a version, and a remark in brackets. */
const SEPARATOR =
  /(?:\.\d{1,2})?["'`*_)\]]{0,3}[ \t]{0,3}(?:[([][^()[\]\n]{1,60}[)\]][ \t]{0,3})?(?:(?:[,;/&、，；]|and\b|or\b)[ \t]{0,3}){1,2}["'`*_([]{0,3}/y;
/** What addresses do not hold in prose, Markdown or JSON: spaces, quotes, brackets, punctuation beyond ASCII. */
const ENDS = `\\s<>"'\`{}[\\]|\\\\*\\u2000-\\u206f${PUNCTUATION}`;
/** What they hold between other characters: a name's apostrophe, an allele's star, a search's field. */
const WITHIN = `['\u2019](?=\\w{2})|\u2013(?=[a-z])|(?<=\\w)\\*(?=\\d)|(?<=\\?[^\\s<>]{0,400})\\[(?:[a-z][a-z\\d/+%]*|\\d*(?=\\]=))\\](?!\\()|${TITLE_END}`;
export const ADDRESS = new RegExp(
  `https?://(?:(?!${NEXT_ADDRESS})[^${ENDS}^]|${WITHIN}|\\\\[_()~&#+=-]){1,2000}`,
  'gi',
);
/** What follows an address that ends only here: of a longer one, which is shortened, a template or holds what few do. */
const GOES_ON = /^(?:[…{]|\^(?!\{?\d)|\*\w|\[(?!\^?\d{1,3}\])[^\s[\]]*\]\w)/;
/** What ends before a number in angle brackets: half of a DOI. */
const HALF_DOI = /\/10\.\d{4,9}\/.*<\d/;
/** What may stand between the name of a registry and its id. */
const CALLED =
  '(?:[ _-]?(?:IDs?|ACs?|accessions?|codes?|numbers?|nos?\\.?|identifiers?|entry|entries|structures?)){0,2}(?: is| are)?';
const PDB = '(?!\\d+(?:[KMGT]B|st|nd|rd|th)\\b)[1-9]';
const CHAIN = '(?:[_.][A-Za-z\\d])?';
const UNIPROT = '(?:[OPQ]\\d[A-Z\\d]{3}\\d|[A-NR-Z]\\d(?:[A-Z][A-Z\\d]{2}\\d){1,2})(?:\\.\\d{1,3})?';

/**
 * Kinds of ids by the patterns of their registries, narrower where a pattern allows other words: the first of their `pages`
 * is linked; further ones count as the same. Of an id, its page is that without what `dropped` matches, and `called` stands
 * before it where people read it. Of those
 * `isInTextOnly`, a table that a tool returns may have thousands, on which no answer rests.
 */
export const ID_KINDS = [
  {
    word: `(?:PMIDs?|PubMed[ _-]?IDs?|PubMed(?="?:|$))${CALLED}(?: Version="\\d")?`,
    // Databases are also named with how many articles they have.
    id: '(?:(?<!PubMed\\W{1,12})\\d{5,6}|\\d{7,8})',
    // "and 50000 cells" may follow the first one.
    next: '\\d{7,8}',
    called: 'PMID ',
    pages: ['pubmed.ncbi.nlm.nih.gov/', 'www.ncbi.nlm.nih.gov/pubmed/', 'europepmc.org/article/MED/'],
  },
  { id: 'PMC\\d{5,8}', pages: ['pmc.ncbi.nlm.nih.gov/articles/', 'www.ncbi.nlm.nih.gov/pmc/articles/'] },
  { id: 'NCT\\d{8}', pages: ['clinicaltrials.gov/study/', 'clinicaltrials.gov/ct2/show/'] },
  { id: 'ISRCTN ?\\d{8}', dropped: / /, pages: ['www.isrctn.com/'] },
  {
    id: '20(?:0[4-9]|1\\d|2[0-5])-\\d{6}-\\d{2}(?!-\\d)(?:[/-](?:[A-Z]{2}|3rd))?',
    dropped: /.(?:[A-Z]{2}|3rd)$/,
    pages: ['www.clinicaltrialsregister.eu/ctr-search/search?query='],
  },
  { id: '20[2-9]\\d-5\\d{5}-\\d{2}-\\d{2}', pages: ['euclinicaltrials.eu/ctis-public/view/'] },
  // GSM900 is a band of mobile phones, GDS-15 a scale of depression, GPL3 a licence.
  { id: 'G(?:SE\\d{3,7}|PL\\d{2,6}|DS\\d{3,5})', pages: ['www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc='] },
  { id: 'GSM\\d{5,8}', pages: ['www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc='], isInTextOnly: true },
  {
    id: '[SED]R[APRSXZ]\\d{6,9}',
    pages: ['www.ncbi.nlm.nih.gov/sra/', 'www.ebi.ac.uk/ena/browser/view/', 'www.ebi.ac.uk/ena/data/view/'],
    isInTextOnly: true,
  },
  { id: 'PRJ[DEN][A-Z]\\d{1,8}', pages: ['www.ncbi.nlm.nih.gov/bioproject/'] },
  {
    id: 'R?PXD\\d{6}',
    pages: [
      'proteomecentral.proteomexchange.org/cgi/GetDataset?ID=',
      'www.ebi.ac.uk/pride/archive/projects/',
    ],
  },
  {
    id: 'E-[A-Z]{4}-\\d{1,6}',
    pages: ['www.ebi.ac.uk/biostudies/arrayexpress/studies/', 'www.ebi.ac.uk/arrayexpress/experiments/'],
  },
  // RS-232 and its like are serial ports.
  { id: 'rs(?!(?:232|422|485)\\b)\\d{3,10}', pages: ['www.ncbi.nlm.nih.gov/snp/'], isInTextOnly: true },
  {
    id: 'ENS(?:[A-Z]{3,4})?(?:E|FM|G|GT|P|R|T)\\d{11}(?:\\.\\d{1,3})?',
    dropped: /\.\d+$/,
    pages: ['www.ensembl.org/id/'],
    isInTextOnly: true,
  },
  {
    id: 'CHEMBL\\d{1,8}',
    pages: ['www.ebi.ac.uk/chembl/id_lookup/', 'www.ebi.ac.uk/chembl/compound_report_card/'],
    isInTextOnly: true,
  },
  {
    word: 'arXiv',
    id: '(?:\\d{4}\\.\\d{4,5}|[a-z]{1,8}(?:-[a-z]{2,4})?(?:\\.[A-Z]{2})?/\\d{7})(?:v\\d+)?',
    called: 'arXiv:',
    pages: ['arxiv.org/abs/'],
  },
  { id: 'RCV\\d{9}(?:\\.\\d{1,3})?', pages: ['www.ncbi.nlm.nih.gov/clinvar/'], isInTextOnly: true },
  { id: '[SV]CV\\d{9}(?:\\.\\d{1,3})?', pages: ['www.ncbi.nlm.nih.gov/clinvar/?term='], isInTextOnly: true },
  {
    word: `ClinVar(?:(?=:\\d)|[ _-]?Variation${CALLED}|[ _-]?IDs?)`,
    // ClinVar:2024.05 is a release.
    id: '\\d{4,8}(?!\\.\\d)',
    called: 'ClinVar ',
    pages: ['www.ncbi.nlm.nih.gov/clinvar/variation/'],
  },
  {
    word: 'RRIDs?',
    id: '[A-Za-z]{2,9}(?:-[A-Z]{2,9}|_[A-Z]{2,5})?[_:](?=[A-Za-z-]*\\d|[A-Z]{4}\\b)[A-Za-z\\d]+(?:[:-][A-Za-z\\d]+)*',
    next: '(?:AB_\\d+|SCR_\\d{6}|CVCL_[A-Z\\d]{4}|Addgene_\\d+)',
    called: 'RRID:',
    pages: ['scicrunch.org/resolver/RRID:'],
  },
  // A digit and three characters with a letter among them; no ordinal and no size.
  {
    word: `PDB${CALLED}`,
    id: `${PDB}(?:(?=\\d*[A-Z])[A-Z\\d]{3}|[a-z][a-z\\d]{2})${CHAIN}`,
    dropped: /[_.].$/,
    called: 'PDB ',
    pages: ['www.rcsb.org/structure/'],
  },
  {
    word: 'PDB[ _-]?(?:IDs?|(?:accession )?codes?|entry|entries)',
    id: `${PDB}(?=\\d*[a-z])[a-z\\d]{3}${CHAIN}`,
    dropped: /[_.].$/,
    called: 'PDB ',
    pages: ['www.rcsb.org/structure/'],
  },
  {
    id: 'pdb_0000[1-9][a-z\\d]{3}',
    dropped: /^pdb_0000/,
    called: 'PDB ',
    pages: ['www.rcsb.org/structure/'],
  },
  {
    word: `(?:UniProt(?:KB)?(?:/Swiss-Prot|/TrEMBL)?${CALLED}|primaryAccession)`,
    id: UNIPROT,
    dropped: /\..*$/,
    called: 'UniProt ',
    pages: ['www.uniprot.org/uniprotkb/', 'www.uniprot.org/uniprot/'],
  },
  // As a sequence's header in FASTA has it.
  {
    id: `(?<=\\b(?:sp|tr)\\|)${UNIPROT}(?=(?:-\\d+)?\\|)`,
    called: 'UniProt ',
    pages: ['www.uniprot.org/uniprotkb/'],
  },
].map(({ id, next = id, word, called = '', pages, dropped, isInTextOnly }) => {
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
    /** Its page, and how people call it. */
    pageOf: (one: string) => {
      const plain = dropped === undefined ? one : one.replace(dropped, '');
      return { url: `https://${pages[0]}${plain}`, label: called + plain };
    },
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
    if (id !== undefined && ids.length < MAX_FINDS) ids.push({ at, id });
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

/**
 * An address or an id without what follows it in a sentence: it ends before a bracket that has no other, and before
 * punctuation. Undefined if it is shortened or a template.
 */
export function wholeName(text: string, at: number, raw: string): string | undefined {
  const isLeft = text[at - 1] === '<' ? /^[^>|]/ : /[=+:(]$/.test(raw) ? /^["“'‘]/ : GOES_ON;
  const next = text.slice(at + raw.length, at + raw.length + 80);
  // `…/nature12373,p<0.05`
  const name = balanced(/^[<>≤≥]/.test(next) ? raw.replace(/[,;(][a-z]{1,9}$/i, '') : raw);
  const isCut = name === raw && (isLeft.test(next) || HALF_DOI.test(raw + next.slice(0, 2)));
  if (isCut || /\.{3}$|\$/.test(name)) return undefined;
  return name.replace(/\\([_()~&#+=-])/g, '$1').replace(/[.,:;!?_~(\\]+$/, '');
}

/** An address without the `www.` that many sites do not need. */
export function withoutWww(address: string): string {
  return address.replace(/^www\./, '');
}
