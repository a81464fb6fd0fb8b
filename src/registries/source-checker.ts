import type { Logger } from 'pino';
import { findDois } from './crossref.ts';
import { RegistryError } from './errors.ts';
import { findPmids } from './pubmed.ts';
import { type RegistryOptions, registryCalls } from './registry-calls.ts';
import type { Finding, RegistryName, SourceCheck, SourceId } from './source-check.ts';

export type SourceChecker = ReturnType<typeof sourceChecker>;

/** Asks the registries that the operator named about publications. Only ids and the contact leave. */
export function sourceChecker({
  registries,
  log,
  ...options
}: RegistryOptions & { registries: readonly RegistryName[]; log: Logger }) {
  const askUntil = registryCalls(options);

  /** Whether a registry that the operator named knows ids of this kind. */
  function covers(id: SourceId): boolean {
    return registries.includes(id.startsWith('doi:') ? 'crossref' : 'pubmed');
  }

  /** What the registries answer until the signal is aborted. What has not come by then is missing. Throws what the gate throws. */
  async function check(ids: readonly SourceId[], signal: AbortSignal): Promise<Map<SourceId, SourceCheck>> {
    const checks = new Map<SourceId, SourceCheck>();
    const collect = async (by: RegistryName, findings: AsyncIterable<[SourceId, Finding]>) => {
      try {
        // Nobody asked for anything else.
        for await (const [id, finding] of findings)
          if (ids.includes(id)) checks.set(id, { ...finding, by, checkedAt: new Date().toISOString() });
      } catch (error) {
        if (!(error instanceof RegistryError)) throw error;
        log.info({ reason: error.message }, 'sources stay unchecked');
      }
    };
    const asked = (prefix: string) =>
      ids.flatMap((id) => (covers(id) && id.startsWith(prefix) ? [id.slice(prefix.length)] : []));
    const ask = askUntil(signal);
    await Promise.all([
      collect('crossref', findDois(ask, asked('doi:'))),
      collect('pubmed', findPmids(ask, asked('pmid:'))),
    ]);
    return checks;
  }

  // Answers that may be checked at once: Crossref takes one call at a time, three with a contact.
  return { most: options.mailto === undefined ? 1 : 3, covers, check };
}
