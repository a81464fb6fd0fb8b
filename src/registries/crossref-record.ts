import { z } from 'zod';
import { type Finding, namedDoi, type SourceState, shortTitle, stateInTitle } from './source-check.ts';

const dateSchema = z.looseObject({ 'date-parts': z.array(z.array(z.number().nullable())) });

/** A relation between two works that may say that one is retracted. One that cannot be read makes the record unreadable. */
const updateSchema = z.looseObject({
  DOI: z.string().optional(),
  type: z.string(),
  source: z.string().optional(),
  updated: dateSchema.optional().catch(undefined),
  'record-id': z.coerce.string().optional(),
});
type Update = z.infer<typeof updateSchema>;

const updatesSchema = z.array(updateSchema).nullish();
const relatedSchema = z.array(z.looseObject({ id: z.string(), 'id-type': z.string() })).catch([]);

/** A work as Crossref describes it. What cannot tell that it is retracted may be odd. */
export const workSchema = z.looseObject({
  DOI: z.string(),
  title: z.array(z.string()).catch([]),
  issued: dateSchema.optional().catch(undefined),
  'updated-by': updatesSchema,
  'update-to': updatesSchema,
  relation: z.record(z.string(), relatedSchema).optional().catch(undefined),
});
export type CrossrefWork = z.infer<typeof workSchema>;

/** What happens to a work, the worst first, by what is in Crossref's words for it. */
const STATES: readonly (readonly [SourceState, RegExp])[] = [
  ['retracted', /^(?!partial).*retract/i],
  ['withdrawn', /withdraw|remov/i],
  ['partly_retracted', /^partial.*retract/i],
  ['concern', /concern/i],
  ['superseded', /^new[\s_-]/i],
  ['corrected', /correct|corrig|errat|addend|clarif/i],
];
/** The titles of notices, which are about another work. */
const NOTICE_TITLE =
  /^\W*(?:retraction|withdrawal|removal|expression of concern|erratum|correct(?:ion|ed)|corrigendum)\b/i;

/**
 * What a work's record says of it. `updated-by` names its notices, except where Retraction Watch calls the record itself a
 * notice and not retracted: some publishers write both directions into both records.
 */
export function readWork(work: CrossrefWork): Finding {
  const { relation, issued } = work;
  const title = shortTitle(work.title[0]);
  const about = { title, year: issued?.['date-parts'][0]?.[0] ?? undefined };
  const [by, to] = [work['updated-by'] ?? [], work['update-to'] ?? []];
  const isNotice =
    (to.some(isWatched) && !by.some((event) => isWatched(event) && stateOf(event) !== 'corrected')) ||
    (to.length > 0 && NOTICE_TITLE.test(title ?? ''));
  const called = stateInTitle(title);
  const isCalledRetracted = !isNotice && called === 'retracted';
  const events = isNotice ? [] : by.filter((event) => isCalledRetracted || !isStale(event, by));
  const worst = STATES.find(([state]) => events.some((event) => stateOf(event) === state))?.[0];
  if ((isCalledRetracted || called === 'withdrawn') && worst !== 'retracted' && worst !== called)
    return { ...about, state: called };
  const replacements = ['is-preprint-of', 'is-replaced-by'].flatMap((name) => relation?.[name] ?? []);
  const article = replacements.find((one) => one['id-type'] === 'doi');
  if (article !== undefined && (worst === undefined || worst === 'corrected'))
    return { ...about, state: 'superseded', see: namedDoi(article.id) };
  const [event] = events.filter((one) => stateOf(one) === worst).sort(watchedThenLatest);
  if (worst === undefined || event === undefined) return { ...about, state: 'found' };
  return { ...about, state: worst, since: dateOf(event), see: namedDoi(event.DOI) };
}

function stateOf({ type }: Update): SourceState | undefined {
  return STATES.find(([, words]) => words.test(type))?.[0];
}

function isWatched({ source }: Update): boolean {
  return source === 'retraction-watch';
}

/** A record of Retraction Watch that changed may stand twice, also as the retraction that it was: the publisher must agree. */
function isStale(event: Update, all: readonly Update[]): boolean {
  if (stateOf(event) !== 'retracted' || event['record-id'] === undefined) return false;
  const isSame = (one: Update) => one['record-id'] === event['record-id'] && one.type !== event.type;
  return all.some(isSame) && !all.some((one) => !isWatched(one) && stateOf(one) === 'retracted');
}

/** The dates and notices of Retraction Watch are right more often. */
function watchedThenLatest(one: Update, other: Update): number {
  const watched = Number(isWatched(other)) - Number(isWatched(one));
  return watched || (dateOf(other) ?? '').localeCompare(dateOf(one) ?? '');
}

function dateOf({ updated }: Update): string | undefined {
  const parts = updated?.['date-parts'][0]?.filter((part) => part !== null) ?? [];
  return parts.length === 0 ? undefined : parts.map((part) => String(part).padStart(2, '0')).join('-');
}
