import { z } from 'zod';
import type { AskRegistry } from './registry-calls.ts';
import { type Finding, type SourceId, type SourceState, shortTitle, stateInTitle } from './source-check.ts';

/** What NCBI calls a PMID that it does not have. */
const UNKNOWN = /cannot get document summary/i;

const answerSchema = z.looseObject({ result: z.record(z.string(), z.unknown()) });
const unknownSchema = z.looseObject({ error: z.string() });

const referenceSchema = z.looseObject({
  reftype: z.string(),
  refsource: z.string().catch(''),
  pmid: z.coerce.string().catch(''),
});
/** A summary. What cannot tell that it is retracted may be odd. */
export const summarySchema = z.looseObject({
  title: z.string().catch(''),
  pubdate: z.string().catch(''),
  sortpubdate: z.string().catch(''),
  pubtype: z.array(z.string()),
  references: z.array(referenceSchema).default([]),
});
export type PubMedSummary = z.infer<typeof summarySchema>;

/** What references to what was written about an article mean, by their words without case and spaces; the worst first. */
const STATES: ReadonlyMap<string, SourceState> = new Map([
  ['retractionin', 'retracted'],
  ['partialretractionin', 'partly_retracted'],
  ['expressionofconcernin', 'concern'],
  ['retractedandrepublishedin', 'superseded'],
  ['correctedandrepublishedin', 'superseded'],
  ['updatein', 'superseded'],
  ['erratumin', 'corrected'],
]);

/** What a summary says of its article. Its own types or title tell a retraction, and only its references the rest. */
export function readSummary({ title, pubdate, sortpubdate, pubtype, references }: PubMedSummary): Finding {
  const year = /^\d{4}/.exec(pubdate)?.[0] ?? /^\d{4}/.exec(sortpubdate)?.[0];
  const events = references.flatMap(({ reftype, refsource, pmid }) => {
    const state = STATES.get(reftype.toLowerCase().replace(/[^a-z]/g, ''));
    const see: SourceId | undefined = /^\d{1,8}$/.test(pmid) ? `pmid:${Number(pmid)}` : undefined;
    return state === undefined ? [] : [{ state, since: dateIn(refsource), see }];
  });
  const worst = [...STATES.values()].find(
    (one) => one !== 'retracted' && events.some(({ state }) => state === one),
  );
  const isNotice = pubtype.some((type) => /^retraction|erratum|expression of concern/i.test(type));
  // Its marks are in capitals: "Removed: a history" is a title.
  const called = isNotice || !/^\W*\p{Lu}{2}/u.test(title) ? undefined : stateInTitle(title);
  const state = pubtype.includes('Retracted Publication') ? 'retracted' : (called ?? worst ?? 'found');
  const latest = events.filter((event) => event.state === state);
  latest.sort((one, other) => (other.since ?? '').localeCompare(one.since ?? ''));
  return {
    ...{ since: undefined, see: undefined, ...latest[0], state },
    title: shortTitle(title.replace(/\.$/, '')),
    year: year === undefined ? undefined : Number(year),
  };
}

const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec';

/** The date in a reference such as "Lancet. 2010 Feb 6;375(9713):445.", as far as it names one. */
function dateIn(refsource: string): string | undefined {
  const [, year, month, day] = /\. (\d{4})(?: ([A-Z][a-z]{2})(?: (\d{1,2}))?)?\b/.exec(refsource) ?? [];
  const at = MONTHS.indexOf(month ?? '-');
  const rest = at < 0 ? [] : [String(at / 3 + 1), ...(day === undefined ? [] : [day])];
  return year === undefined ? undefined : [year, ...rest.map((part) => part.padStart(2, '0'))].join('-');
}

/** Looks up the PMIDs of an answer, at most 200, at PubMed. Yields what it finds; the rest was not answered. Throws a RegistryError. */
export async function* findPmids(
  ask: AskRegistry,
  pmids: readonly string[],
): AsyncGenerator<[SourceId, Finding]> {
  if (pmids.length === 0) return;
  const query = { db: 'pubmed', retmode: 'json', id: pmids.join(',') };
  const answer = await ask('pubmed', 'esummary.fcgi', answerSchema, query);
  for (const pmid of pmids) {
    const entry = answer?.result[pmid];
    const error = unknownSchema.safeParse(entry).data?.error;
    const summary = summarySchema.safeParse(entry).data;
    // An entry that cannot be read says nothing.
    if (error !== undefined && UNKNOWN.test(error)) yield [`pmid:${pmid}`, { state: 'not_found' }];
    else if (error === undefined && summary !== undefined) yield [`pmid:${pmid}`, readSummary(summary)];
  }
}
