import type { AuditRange } from '../store/audit/audit-trail.ts';
import type { Store } from '../store/store.ts';
import { runRangeCommand } from './time-range.ts';

/** Prints the audit trail as lines of JSON, one for each row, oldest first. */
export async function printAudit(
  store: Pick<Store, 'audit'>,
  range: AuditRange,
  print: (line: string) => void,
): Promise<void> {
  for await (const { at, ...row } of store.audit.read(range)) {
    print(JSON.stringify({ at: at.toISOString(), ...row }));
  }
}

if (import.meta.main) await runRangeCommand('audit', 'the audit trail', printAudit);
