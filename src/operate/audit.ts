import { readCommandConfig } from '../config.ts';
import type { AuditRange } from '../store/audit/audit-trail.ts';
import type { Store } from '../store/store.ts';
import { parseOptions, runCommand } from './command-runner.ts';
import { UsageError } from './error-messages.ts';
import { withOperatorStore } from './operator-store.ts';

const USAGE = 'npm run audit -- --since 2026-11-01 [--until 2026-12-01] [--workspace T0123]';
const HELP = `Prints the audit trail as lines of JSON, oldest first.\n\nUsage: ${USAGE}`;

/** Reads the command line. Throws UsageError. */
export function parseAuditRange(args: readonly string[]): AuditRange {
  const option = { type: 'string' } as const;
  const options = { since: option, until: option, workspace: option };
  const { since, until, workspace } = parseOptions(USAGE, args, options);
  if (since === undefined) throw new UsageError(USAGE, '--since is missing.');
  return {
    since: parseTime('--since', since),
    until: until === undefined ? undefined : parseTime('--until', until),
    workspace,
  };
}

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

function parseTime(name: string, text: string): Date {
  const at = new Date(text);
  if (Number.isNaN(at.getTime()))
    throw new UsageError(
      USAGE,
      `${name} is not a valid time: ${text}. Use a form like 2026-11-01 or 2026-11-01T08:00Z.`,
    );
  return at;
}

if (import.meta.main) {
  await runCommand(HELP, async () => {
    const range = parseAuditRange(process.argv.slice(2));
    await withOperatorStore(readCommandConfig(process.env), (store) =>
      printAudit(store, range, (line) => process.stdout.write(`${line}\n`)),
    );
    return 0;
  });
}
