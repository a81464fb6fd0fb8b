import { z } from 'zod';
import { readWork, workSchema } from './crossref-record.ts';
import { RegistryError } from './errors.ts';
import type { AskRegistry } from './registry-calls.ts';
import { doiId, type Finding, type SourceId } from './source-check.ts';

const FIELDS = 'DOI,title,issued,updated-by,update-to,relation';

const itemSchema = z.looseObject({ DOI: z.string() });
const listSchema = z.looseObject({ message: z.looseObject({ items: z.array(itemSchema) }) });
const singleSchema = z.looseObject({ message: workSchema });
const agenciesSchema = z.array(
  z.looseObject({ DOI: z.string(), RA: z.string().optional(), status: z.string().optional() }),
);

/**
 * Looks up the DOIs of an answer at Crossref, and what its list lacks at doi.org: other agencies register DOIs, too. Yields
 * what it finds; the rest was not answered. Throws a RegistryError.
 */
export async function* findDois(
  ask: AskRegistry,
  dois: readonly string[],
): AsyncGenerator<[SourceId, Finding]> {
  // Their dots would lead to another address.
  const askable = dois.filter((doi) => !/(?:^|\/)\.{1,2}(?:\/|$)/.test(doi));
  // Nobody can tell a comma in a DOI from one between two.
  const listable = (some: readonly string[]) => some.filter((doi) => !doi.includes(','));
  const listed = new Set<SourceId>();
  for await (const item of listedWorks(ask, listable(askable))) {
    const id = doiId(item.DOI);
    listed.add(id);
    // One whose record cannot be read is neither missing nor found.
    const work = workSchema.safeParse(item).data;
    if (work !== undefined) yield [id, readWork(work)];
  }
  const missing = askable.filter((doi) => !listed.has(doiId(doi)));
  const agencies = await agenciesOf(ask, listable(missing));
  for (const doi of missing) {
    const finding = await findUnlisted(ask, doi, agencies.get(doiId(doi)));
    if (finding !== undefined) yield [doiId(doi), finding];
  }
}

/** What is known of a work that Crossref's list lacks, by the agency of its DOI. */
async function findUnlisted(
  ask: AskRegistry,
  doi: string,
  agency: string | null | undefined,
): Promise<Finding | undefined> {
  if (agency === null) return { state: 'not_found' };
  if (agency !== undefined && agency !== 'Crossref') return { state: 'found', agency: agency.slice(0, 60) };
  // It may have got another DOI there.
  const single = await ask('crossref single', `works/${inPath(doi)}`, singleSchema).catch(undefinedIfRefused);
  if (single !== undefined) return readWork(single.message);
  return agency === undefined ? undefined : { state: 'found', agency };
}

/** The works that Crossref lists. A single DOI that is malformed makes it refuse all: it is asked again for each half. */
async function* listedWorks(
  ask: AskRegistry,
  dois: readonly string[],
): AsyncGenerator<z.output<typeof itemSchema>> {
  if (dois.length === 0) return;
  const query = { filter: dois.map((doi) => `doi:${doi}`).join(','), rows: '20', select: FIELDS };
  const list = await ask('crossref list', 'works', listSchema, query).catch(undefinedIfRefused);
  if (list !== undefined || dois.length === 1) return yield* list?.message.items ?? [];
  const middle = Math.ceil(dois.length / 2);
  yield* listedWorks(ask, dois.slice(0, middle));
  yield* listedWorks(ask, dois.slice(middle));
}

/** A registry refuses a question for one of its DOIs, which says nothing of the others. */
function undefinedIfRefused(error: unknown): undefined {
  if (!(error instanceof RegistryError && error.code === 'refused')) throw error;
}

/** Which agency each DOI is registered with; null: with none. One of which doi.org says nothing is left out. */
async function agenciesOf(ask: AskRegistry, dois: readonly string[]) {
  const agencies = new Map<SourceId, string | null>();
  if (dois.length === 0) return agencies;
  const path = `doiRA/${dois.map(inPath).join(',')}`;
  const answers = await ask('doi.org', path, agenciesSchema).catch(undefinedIfRefused);
  for (const { DOI, RA, status = '' } of answers ?? [])
    if (RA !== undefined || /^(?:DOI does not exist|Invalid DOI)$/i.test(status))
      agencies.set(doiId(DOI), RA ?? null);
  return agencies;
}

function inPath(doi: string): string {
  return encodeURIComponent(doi).replaceAll('%2F', '/');
}
