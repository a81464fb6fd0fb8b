import type { SourceCheck } from '../../registries/source-check.ts';

export const sources = 'Sources';
export const furtherSources = 'Further sources';
/** Below the last of `count` sources, more than which are not looked for. */
export const firstSourcesOnly = (count: number) =>
  `These are the first ${count}; there may be more in the answer.`;
/** Below a list of sources that has no room for `count` more. */
export const sourcesInSteps = (count: number) =>
  count === 1 ? 'Press Steps for 1 more source.' : `Press Steps for ${count} more sources.`;

/** What the registries say of a source; `many` of several. */
export const sourceStates = {
  found: { mark: '✓', word: 'found', many: 'found' },
  retracted: { mark: '⛔', word: 'retracted', many: 'retracted' },
  withdrawn: { mark: '⛔', word: 'withdrawn', many: 'withdrawn' },
  partly_retracted: { mark: '⛔', word: 'partly retracted', many: 'partly retracted' },
  concern: { mark: '⚠', word: 'expression of concern', many: 'expressions of concern' },
  corrected: { mark: '✎', word: 'corrected', many: 'corrected' },
  superseded: { mark: '↑', word: 'newer version', many: 'newer versions' },
  other_title: { mark: '⚠', word: 'another title', many: 'other titles' },
  not_found: { mark: '✗', word: 'not found', many: 'not found' },
  not_checked: { mark: '–', word: 'not checked', many: 'not checked' },
} as const;

/** How publishers begin the titles of what is retracted or withdrawn; without a mark after it, only capitals are no word of the title. */
const TITLE_MARK =
  /^\W*(?:(?:RETRACTED|WITHDRAWN|[Rr]etracted|[Ww]ithdrawn)(?:\s+(?:[Aa]rticle|ARTICLE|[Cc]hapter|CHAPTER|[Pp]aper|PAPER))?\s*[:\])]|(?:RETRACTED|WITHDRAWN)(?:\s+ARTICLE)?(?:\s(?:\s*[-–—])?|[–—]))\s*/;

/** "retracted on 2010-02-06: Its title (1998)" */
export function sourceFinding(check: Partial<SourceCheck>): string {
  const { state = 'not_checked', since, agency, title, year } = check;
  const when = since === undefined ? '' : ` ${since.length < 10 ? 'in' : 'on'} ${since}`;
  const where = agency === undefined ? '' : ` at ${agency}`;
  const isInTitle = state === 'retracted' || state === 'withdrawn';
  const shown = (isInTitle && title?.replace(TITLE_MARK, '')) || title;
  const named = shown === undefined ? '' : `: ${shown}`;
  return `${sourceStates[state].word}${when}${where}${named}${year === undefined ? '' : ` (${year})`}`;
}

export const sourceNotice = 'notice';
export const sourceReplacement = 'the newer one';
/** Below what registries say, on days such as 2026-12-01; NCBI's own words follow where its data are shown. */
export function sourcesCheckedWith(registries: readonly ('crossref' | 'pubmed')[], from = '', to = '') {
  const names = { crossref: 'Crossref', pubmed: 'PubMed' };
  const when = from === to ? `on ${to}` : `between ${from} and ${to}`;
  return `Checked with ${registries.map((one) => names[one]).join(' and ')} ${when}.`;
}
export const sourcesNotChecked = "I couldn't check these sources: the registries haven't answered.";
export const ncbiDisclaimer = {
  text: "NCBI's disclaimer and copyright notice",
  url: 'https://www.ncbi.nlm.nih.gov/About/disclaimer.html',
};
