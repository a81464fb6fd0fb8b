import { capitalise, shorten, toOneLine } from '../text-format.ts';

/** Verbs with which tools are named, each with its past where that is not regular. */
const VERBS = new Map(
  `search read=read write=wrote run=ran execute fetch get=got list query download upload create make=made build=built plot=plotted
  draw=drew render compute calculate analyze analyse summarize summarise describe load save open close find=found fit=fitted align
  predict classify cluster rank score test compare merge join filter sort count convert check validate verify extract parse
  annotate map=mapped retrieve translate generate edit update delete remove add insert install visit view show send=sent ask call
  inspect look lookup=looked_up simulate dock fold train evaluate estimate normalize normalise cite resolve`
    .split(/\s+/)
    .map((entry): [string, string] => {
      const [verb = '', past] = entry.split('=');
      return [verb, past?.replace('_', ' ') ?? `${verb.replace(/(?<=[^aeiou])y$/, 'i').replace(/e$/, '')}ed`];
    }),
);
/** Names that tools write in their own letters, also as two words. */
const NAMES =
  `PubMed ClinVar UniProt GEO PDB NCBI BLAST KEGG ChEMBL PubChem DrugBank TCGA GWAS AlphaFold arXiv bioRxiv RNA DNA FASTA VCF CSV
  JSON PDF SQL API URL DOI Python GitHub Google Wikipedia Slack`
    .split(/\s+/)
    .map((name) => [new RegExp(`\\b${name.replace(/(?<=[a-z])(?=[A-Z])/, ' ?')}\\b`, 'gi'), name] as const);
/** What only says that something is a tool. */
const GENERIC = /^(?:mcp|functions?|tools?|default|api|server|v\d+)$/i;

/**
 * A tool in words if its name begins or ends with a verb: "Search PubMed" for `search_pubmed`, "Searched PubMed" once it
 * is done. Other names stay as they are.
 */
export function toolName(name: string, isDone = false): string {
  const plain = toOneLine(name);
  const parts = plain
    .split(/__|[./:]/)
    .map(wordsOf)
    .filter((words) => words.length > 0);
  const last = parts.at(-1) ?? [];
  const verb = [last.at(0), last.at(-1)].find((word) => VERBS.has(word ?? ''));
  if (verb === undefined) return shorten(last.length === 0 ? 'Tool' : plain, 60);
  const about = parts.flat().filter((word) => word !== verb && !GENERIC.test(word));
  const words = [isDone ? VERBS.get(verb) : verb, ...new Set(about)].join(' ');
  return shorten(capitalise(NAMES.reduce((text, [written, own]) => text.replace(written, own), words)), 60);
}

function wordsOf(part: string): string[] {
  const words = part.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2').split(/[_\-\s]+/);
  return words
    .filter((word) => word !== '')
    .map((word) => (/\p{Ll}/u.test(word) ? word.toLowerCase() : word));
}
