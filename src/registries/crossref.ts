import { z } from 'zod';
import { readWork, workSchema } from './crossref-record.ts';
import { RegistryError } from './errors.ts';
import type { RegistrySearch } from './registry-calls.ts';
import { doiId, type SourceId } from './source-check.ts';

const FIELDS = 'DOI,title,issued,updated-by,update-to,relation';
/** Calls a second by Crossref's table since December 2025; with a contact, those of its polite pool. doi.org names none. */
const RATES = { public: { list: 1, single: 5 }, polite: { list: 3, single: 10 }, agency: 2 };

const itemSchema = z.looseObject({ DOI: z.string() });
const listSchema = z.looseObject({ message: z.looseObject({ items: z.array(itemSchema) }) });
const singleSchema = z.looseObject({ message: workSchema });
const agenciesSchema = z.array(
  z.looseObject({ DOI: z.string(), RA: z.string().optional(), status: z.string().optional() }),
);

/**
 * Looks up the DOIs of an answer at Crossref, and what its list lacks at doi.org: other agencies register DOIs, too. What is
 * not `found` was not answered. Throws a RegistryError.
 */
export async function findDois(search: RegistrySearch, dois: readonly string[]): Promise<void> {
  const { found } = search;
  // Their dots would lead to another address.
  const askable = dois.filter((doi) => !/(?:^|\/)\.{1,2}(?:\/|$)/.test(doi));
  // Nobody can tell a comma in a DOI from one between two.
  const listable = (some: readonly string[]) => some.filter((doi) => !doi.includes(','));
  const listed = await findInList(search, listable(askable));
  const missing = askable.filter((doi) => !listed.has(doiId(doi)));
  const agencies = await agenciesOf(search, listable(missing));
  for (const doi of missing) {
    const agency = agencies.get(doiId(doi));
    if (agency === null) found(doiId(doi), { state: 'not_found' });
    else if ((agency === 'Crossref' || agency === undefined) && (await findAlone(search, doi))) continue;
    else if (agency !== undefined) found(doiId(doi), { state: 'found', agency: agency.slice(0, 60) });
  }
}

/** The DOIs that Crossref lists. A single one that is malformed makes it refuse all: it is asked again for each half. */
async function findInList(search: RegistrySearch, dois: readonly string[]): Promise<Set<SourceId>> {
  if (dois.length === 0) return new Set();
  const filter = dois.map((doi) => `doi:${doi}`).join(',');
  try {
    const list = await ask(search, 'list', 'works', listSchema, { filter, rows: '20', select: FIELDS });
    const items = list?.message.items ?? [];
    // One whose record cannot be read is neither missing nor found.
    for (const work of items.flatMap((item) => workSchema.safeParse(item).data ?? []))
      search.found(doiId(work.DOI), readWork(work));
    return new Set(items.map(({ DOI }) => doiId(DOI)));
  } catch (error) {
    if (!(error instanceof RegistryError && error.code === 'refused')) throw error;
    if (dois.length === 1) return new Set();
    const middle = Math.ceil(dois.length / 2);
    const first = await findInList(search, dois.slice(0, middle));
    return new Set([...first, ...(await findInList(search, dois.slice(middle)))]);
  }
}

/** Whether Crossref has a work, which may have got another DOI. */
async function findAlone(search: RegistrySearch, doi: string): Promise<boolean> {
  const work = await ask(search, 'single', `works/${inPath(doi)}`, singleSchema);
  if (work !== undefined) search.found(doiId(doi), readWork(work.message));
  return work !== undefined;
}

async function ask<Schema extends z.ZodType>(
  { calls, addresses, mailto, signal }: RegistrySearch,
  kind: 'list' | 'single',
  path: string,
  schema: Schema,
  query: Record<string, string> = {},
) {
  const { [kind]: perSecond } = mailto === undefined ? RATES.public : RATES.polite;
  const contact = mailto === undefined ? {} : { mailto };
  const search = new URLSearchParams({ ...query, ...contact }).toString();
  const url = new URL(`${addresses.crossref}/${path}?${search}`);
  return calls.get({ name: `crossref ${kind}`, perSecond }, url, schema, signal);
}

/** Which agency each DOI is registered with; null: with none. One of which doi.org says nothing is left out. */
async function agenciesOf({ calls, addresses, signal }: RegistrySearch, dois: readonly string[]) {
  const agencies = new Map<SourceId, string | null>();
  if (dois.length === 0) return agencies;
  const url = new URL(`${addresses.doi}/doiRA/${dois.map(inPath).join(',')}`);
  const answers = await calls.get({ name: 'doi.org', perSecond: RATES.agency }, url, agenciesSchema, signal);
  for (const { DOI, RA, status = '' } of answers ?? [])
    if (RA !== undefined || /^(?:DOI does not exist|Invalid DOI)$/i.test(status))
      agencies.set(doiId(DOI), RA ?? null);
  return agencies;
}

function inPath(doi: string): string {
  return encodeURIComponent(doi).replaceAll('%2F', '/');
}
