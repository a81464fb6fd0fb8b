import { readCommandConfig } from '../config.ts';
import type { AuditRange } from '../store/audit/audit-trail.ts';
import type { Store } from '../store/store.ts';
import { runCommand } from './command-runner.ts';
import { withOperatorStore } from './operator-store.ts';
import { parseTimeRange, rangeUsage } from './time-range.ts';

const HELP = `Prints the audit trail as lines of JSON, oldest first.\n\nUsage: ${rangeUsage('audit')}`;

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

if (import.meta.main) {
  await runCommand(HELP, async () => {
    const range = parseTimeRange('audit', process.argv.slice(2));
    await withOperatorStore(readCommandConfig(process.env), (store) =>
      printAudit(store, range, (line) => process.stdout.write(`${line}\n`)),
    );
    return 0;
  });
}
