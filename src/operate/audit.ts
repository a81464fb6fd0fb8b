import { parseArgs } from 'node:util';
import { readConfig } from '../config.ts';
import type { AuditRange } from '../store/audit.ts';
import type { Store } from '../store/store.ts';
import { runCommand, UsageError } from './command.ts';
import { withStore } from './operator-store.ts';

const usage = 'npm run audit -- --since 2026-11-01 [--until 2026-12-01] [--workspace T0123]';

/** Reads the command line. Throws UsageError. */
export function readAuditRange(args: readonly string[]): AuditRange {
  const option = { type: 'string' } as const;
  const { since, until, workspace } = parsed();
  if (since === undefined) throw new UsageError(usage, '--since is missing.');
  return {
    since: time('--since', since),
    until: until === undefined ? undefined : time('--until', until),
    workspace,
  };

  function parsed() {
    try {
      return parseArgs({ args: [...args], options: { since: option, until: option, workspace: option } })
        .values;
    } catch (error) {
      throw new UsageError(usage, error instanceof Error ? error.message : String(error));
    }
  }
}

/** Prints the audit trail, a row a line of JSON, oldest first. */
export async function printAudit(
  store: Pick<Store, 'audit'>,
  range: AuditRange,
  print: (line: string) => void,
): Promise<void> {
  for await (const { at, ...row } of store.audit.read(range)) {
    print(JSON.stringify({ at: at.toISOString(), ...row }));
  }
}

function time(name: string, text: string): Date {
  const at = new Date(text);
  if (Number.isNaN(at.getTime()))
    throw new UsageError(
      usage,
      `${name} is no time: ${text}. Write it like 2026-11-01 or 2026-11-01T08:00Z.`,
    );
  return at;
}

if (import.meta.main) {
  await runCommand(async () => {
    const range = readAuditRange(process.argv.slice(2));
    await withStore(readConfig(process.env), (store) =>
      printAudit(store, range, (line) => process.stdout.write(`${line}\n`)),
    );
    return 0;
  });
}
