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

/** Prints how much the agent was used, by month, workspace, channel and model. */
export async function printUsage(
  store: Pick<Store, 'usage'>,
  range: AuditRange,
  print: (line: string) => void,
): Promise<void> {
  for await (const row of store.usage.read(range)) print(JSON.stringify(row));
}

if (import.meta.main) {
  const options = process.argv.slice(2);
  const args = options.filter((option) => option !== '--summary');
  const what = 'the audit trail, or with --summary the usage of each month, channel and model,';
  await runRangeCommand('audit', what, args.length < options.length ? printUsage : printAudit, args);
}
