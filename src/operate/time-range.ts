import { readCommandConfig } from '../config.ts';
import type { AuditRange } from '../store/audit/audit-trail.ts';
import type { Store } from '../store/store.ts';
import { commandLine, parseOptions, runCommand } from './command-runner.ts';
import { UsageError } from './error-messages.ts';
import { withOperatorStore } from './operator-store.ts';

/** Runs a command that prints the rows of a time as lines of JSON, and exits. `what` completes "Prints …". */
export async function runRangeCommand(
  command: string,
  what: string,
  printRows: (store: Store, range: AuditRange, print: (line: string) => void) => Promise<void>,
): Promise<never> {
  const help = `Prints ${what} as lines of JSON, oldest first.\n\nUsage: ${rangeUsage(command)}`;
  return runCommand(help, async () => {
    const range = parseTimeRange(command, process.argv.slice(2));
    await withOperatorStore(readCommandConfig(process.env), (store) =>
      printRows(store, range, (line) => process.stdout.write(`${line}\n`)),
    );
    return 0;
  });
}

function rangeUsage(command: string): string {
  return commandLine(command, '--since 2026-11-01 [--until 2026-12-01] [--workspace T0123]');
}

/** Reads the time and the workspace of such a command. Throws UsageError. */
export function parseTimeRange(command: string, args: readonly string[]): AuditRange {
  const usage = rangeUsage(command);
  const option = { type: 'string' } as const;
  const options = { since: option, until: option, workspace: option };
  const { since, until, workspace } = parseOptions(usage, args, options);
  if (since === undefined) throw new UsageError(usage, '--since is missing.');
  return {
    since: parseTime(usage, '--since', since),
    until: until === undefined ? undefined : parseTime(usage, '--until', until),
    workspace,
  };
}

function parseTime(usage: string, name: string, text: string): Date {
  const at = new Date(text);
  if (Number.isNaN(at.getTime()))
    throw new UsageError(
      usage,
      `${name} is not a valid time: ${text}. Use a form like 2026-11-01 or 2026-11-01T08:00Z.`,
    );
  return at;
}
