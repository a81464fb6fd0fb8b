import type { Logger } from 'pino';
import { findDois } from './crossref.ts';
import { RegistryError } from './errors.ts';
import { findPmids } from './pubmed.ts';
import { type RegistryAddresses, RegistryCalls, type RegistryGate } from './registry-calls.ts';
import type { Finding, RegistryName, SourceCheck, SourceId } from './source-check.ts';

export interface SourceCheckerOptions {
  registries: readonly RegistryName[];
  addresses: RegistryAddresses;
  /** The operator's contact, which registries ask for. */
  mailto: string | undefined;
  gate: RegistryGate;
  log: Logger;
}

/** Asks registries about publications. */
export interface SourceChecker {
  /** Answers that may be checked at once: Crossref takes one call at a time, three with a contact. */
  most: number;
  /** Whether a registry that the operator named knows ids of this kind. */
  covers(id: SourceId): boolean;
  /** What the registries answer until the signal is aborted. What has not come by then is missing; it never throws. */
  check(ids: readonly SourceId[], signal: AbortSignal): Promise<Map<SourceId, SourceCheck>>;
}

/** A checker for the registries that the operator named. Only ids and the contact leave. */
export function sourceChecker(options: SourceCheckerOptions): SourceChecker {
  const { registries, addresses, mailto, gate, log } = options;
  const calls = new RegistryCalls(gate, mailto);
  const covers = (id: SourceId) => registries.includes(id.startsWith('doi:') ? 'crossref' : 'pubmed');
  return {
    most: mailto === undefined ? 1 : 3,
    covers,
    check: async (ids, signal) => {
      const checks = new Map<SourceId, SourceCheck>();
      const foundBy = (by: RegistryName) => (id: SourceId, finding: Finding) => {
        // Nobody asked for anything else.
        if (ids.includes(id)) checks.set(id, { ...finding, by, checkedAt: new Date().toISOString() });
      };
      const asked = (prefix: string) =>
        ids.flatMap((id) => (covers(id) && id.startsWith(prefix) ? [id.slice(prefix.length)] : []));
      const search = { calls, addresses, mailto, signal };
      const searches = [
        findDois({ ...search, found: foundBy('crossref') }, asked('doi:')),
        findPmids({ ...search, found: foundBy('pubmed') }, asked('pmid:')),
      ];
      // Of a RegistryError only our own words are logged: its cause has the address, with the ids.
      for (const one of await Promise.allSettled(searches))
        if (one.status === 'rejected') {
          const isKnown = one.reason instanceof RegistryError;
          log.info(isKnown ? { reason: one.reason.message } : { err: one.reason }, 'sources stay unchecked');
        }
      return checks;
    },
  };
}
