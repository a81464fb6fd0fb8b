/** A registry of publications that an operator may name. */
export const REGISTRIES = ['crossref', 'pubmed'] as const;
export type RegistryName = (typeof REGISTRIES)[number];

/** What identifies a publication: `doi:` and its DOI in lower case, or `pmid:` and its number. */
export type SourceId = `doi:${string}` | `pmid:${string}`;

/** What is said of a publication. Only an answer about an id makes it `not_found`; a silent registry says nothing. */
export type SourceState =
  | 'found'
  | 'retracted'
  /** By its publisher: an outdated review, or a preprint. */
  | 'withdrawn'
  | 'partly_retracted'
  | 'concern'
  | 'corrected'
  | 'superseded'
  | 'not_found'
  /** The registry's title shares no word with what the answer says beside the id. */
  | 'other_title';

/** What a registry answered about a publication. Its texts are untrusted. */
export interface SourceCheck {
  state: SourceState;
  by: RegistryName;
  /** When the registry answered, as an ISO time. */
  checkedAt: string;
  title?: string | undefined;
  year?: number | undefined;
  /** When it was retracted or the like: `2010-02-06`, `2010-02` or `2010`. */
  since?: string | undefined;
  /** The notice or, of what is superseded, what replaces it. */
  see?: SourceId | undefined;
  /** Which agency registered a DOI that Crossref does not describe. */
  agency?: string | undefined;
}

/** What is known of the sources of an answer. One that is missing was not checked. */
export type SourceChecks = Readonly<Partial<Record<SourceId, SourceCheck>>>;

/** What a registry's record says, whichever registry it is. */
export type Finding = Omit<SourceCheck, 'by' | 'checkedAt'>;

/** The id of a DOI, whose case does not count. */
export function doiId(doi: string): SourceId {
  return `doi:${doi.toLowerCase()}`;
}

/** The id of a DOI that a registry names, which people open and the agent reads: undefined for anything else. */
export function namedDoi(doi = ''): SourceId | undefined {
  return /^10\.\d{4,9}\/[!-~]{1,200}$/.test(doi) ? doiId(doi) : undefined;
}

/** A title as a registry has it, perhaps with markup, but not longer than titles are; undefined if there is none. */
export function shortTitle(title = ''): string | undefined {
  return /\S/.test(title) ? title.slice(0, 1_000).toWellFormed() : undefined;
}

const RETRACTED_TITLE =
  /^\W*(?:[Rr](?:etracted|ETRACTED)(?:\s+(?:[Aa]rticle|ARTICLE|[Pp]aper|PAPER|[Cc]hapter|CHAPTER))?\s*[:\])]|RETRACTED[\s—–])/;
/** What a work is by the mark that publishers put before its title; a publisher's own notice may have it, too. */
export function stateInTitle(title = ''): 'retracted' | 'withdrawn' | undefined {
  if (RETRACTED_TITLE.test(title)) return 'retracted';
  const isWithdrawn = /^\W*(?:withdrawn|removed|temporary removal)(?:\s+article)?\s*[:\])]/i.test(title);
  return isWithdrawn ? 'withdrawn' : undefined;
}
