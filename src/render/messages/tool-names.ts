import { capitalise, shorten, toOneLine } from '../text-format.ts';

/** Verbs with which tools are named, each with its past where that is not regular. */
const VERBS = new Map(
  listOf(
    `search read=read write=wrote run=ran execute exec=executed=execute fetch get=fetched=fetch list query download upload create make=made
    build=built plot=plotted draw=drew render compute calculate calc=calculated=calculate analyze analyse summarize summarise
    describe load save open close find=found look fit=fitted align predict classify cluster rank score test compare merge join
    filter sort count convert check validate verify extract parse annotate map=mapped retrieve translate generate edit update
    delete remove add insert install browse visit view show send ask call crawl scrape inspect simulate dock fold train evaluate
    estimate normalize normalise cite resolve lookup=looked_up=look_up`,
  ).map((entry) => {
    const [name = '', past = regularPast(name), shown = name] = entry.split('=');
    return [name, { now: shown.replace('_', ' '), past: past.replace('_', ' ') }] as const;
  }),
);
/** How names are written that tools write in small letters. */
const NAMES = new Map(
  listOf(
    `PubMed ClinVar UniProt UniProtKB Ensembl GEO PDB RCSB NCBI EBI BLAST KEGG Reactome ChEMBL PubChem DrugBank dbSNP gnomAD
    TCGA GTEx GWAS OMIM HGNC InterPro Pfam AlphaFold ArrayExpress ENCODE cBioPortal OpenAlex Crossref EuropePMC PMC arXiv bioRxiv
    medRxiv SRA ENA RNA DNA FASTA FASTQ VCF BAM CSV TSV JSON XML HTML PDF SQL API URL DOI Python R Bash SRA Jupyter Wikipedia
    Google GitHub Slack`,
  ).map((name) => [name.toLowerCase(), name]),
);
/** What only says that something is a tool. */
const GENERIC = /^(?:mcp|functions?|tools?|default|api|server|v\d+)$/i;

function listOf(text: string): string[] {
  return text.trim().split(/\s+/);
}

function regularPast(verb: string): string {
  if (verb.endsWith('e')) return `${verb}d`;
  return /[^aeiou]y$/.test(verb) ? verb.replace(/y$/, 'ied') : `${verb}ed`;
}

/**
 * A tool in words if its name begins or ends with a verb: "Search PubMed" for `search_pubmed`, "Searched PubMed" once it
 * is done. Other names stay as they are.
 */
export function toolName(name: string, isDone = false): string {
  const plain = toOneLine(name);
  const parts = plain.split(/__|[./:]/).map(wordsOf);
  const words = parts.findLast((part) => part.length > 0) ?? [];
  const place =
    parts
      .slice(0, parts.indexOf(words))
      .findLast((part) => part.length > 0 && !GENERIC.test(part.join(''))) ?? [];
  const isLast = words.length > 1 && !VERBS.has(lower(words[0])) && VERBS.has(lower(words.at(-1)));
  const [first, ...rest] = isLast ? [words.at(-1), ...words.slice(0, -1)] : words;
  const verb = VERBS.get(lower(first));
  if (verb === undefined) return shorten(plain === '' || words.length === 0 ? 'Tool' : plain, 60);
  const isNamed = place.some((word) => [...NAMES.values()].includes(word));
  const about = rest.length === 0 || isNamed ? [...place, ...rest] : rest;
  return shorten(capitalise([isDone ? verb.past : verb.now, ...about].join(' ')), 60);
}

function lower(word: string | undefined): string {
  return word?.toLowerCase() ?? '';
}

/** The words of a part of a name, with names as they are written. */
function wordsOf(part: string): string[] {
  const whole = NAMES.get(part.replace(/[_\-\s]/g, '').toLowerCase());
  if (whole !== undefined) return [whole];
  const split = part.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2').split(/[_\-\s]+/);
  const words: string[] = [];
  for (let at = 0; at < split.length; at += 1) {
    // A name may have a capital within.
    const pair = NAMES.get(`${split[at]}${split[at + 1] ?? ''}`.toLowerCase());
    const word = split[at] ?? '';
    if (pair !== undefined) at += 1;
    const shown =
      pair ?? NAMES.get(word.toLowerCase()) ?? (/^\p{Lu}\p{Ll}/u.test(word) ? word.toLowerCase() : word);
    if (shown !== '') words.push(shown);
  }
  return words;
}
