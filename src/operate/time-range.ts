import { readCommandConfig } from '../config.ts';
import type { AuditRange } from '../store/audit-trail.ts';
import type { Store } from '../store/store.ts';
import { commandLine, parseOptions, runCommand, UsageError, withOperatorStore } from './command-runner.ts';

type ReadRows = (store: Store, range: AuditRange) => AsyncIterable<object>;

/** A command that prints the rows of a time as lines of JSON. */
export interface RangeCommand {
  name: string;
  /** Completes "Prints …". */
  what: string;
  readRows: ReadRows;
  /** What `--summary` prints instead; `what` completes its line of the help. */
  summary?: { what: string; readRows: ReadRows };
}

/** Runs such a command, and exits. */
export async function runRangeCommand(command: RangeCommand): Promise<never> {
  const { what, summary } = command;
  const head = `Prints ${what} as lines of JSON, oldest first.\n\nUsage: ${usageOf(command)}`;
  const help = summary === undefined ? head : `${head}\n\n  --summary   prints ${summary.what}`;
  return runCommand(help, async () => {
    const { isSummary, ...range } = parseTimeRange(command, process.argv.slice(2));
    const readRows = (isSummary && summary?.readRows) || command.readRows;
    await withOperatorStore(readCommandConfig(process.env), async (store) => {
      for await (const row of readRows(store, range)) process.stdout.write(`${JSON.stringify(row)}\n`);
    });
    return 0;
  });
}

type NamedCommand = Pick<RangeCommand, 'name' | 'summary'>;

function usageOf({ name, summary }: NamedCommand): string {
  const since = '--since 2026-11-01 [--until 2026-12-01] [--workspace T0123]';
  return commandLine(name, summary === undefined ? since : `${since} [--summary]`, true);
}

/** Reads the time and the workspace of such a command; a summary begins eleven months before this one. Throws UsageError. */
export function parseTimeRange(
  command: NamedCommand,
  args: readonly string[],
): AuditRange & { isSummary: boolean } {
  const usage = usageOf(command);
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const options = { since: text, until: text, workspace: text };
  const parsed =
    command.summary === undefined
      ? { ...parseOptions(usage, args, options), summary: false }
      : parseOptions(usage, args, { ...options, summary: flag });
  const { since, until, workspace, summary: isSummary } = parsed;
  if (since === undefined && !isSummary) throw new UsageError(usage, '--since is missing.');
  return {
    since: since === undefined ? elevenMonthsAgo(new Date()) : parseTime(usage, '--since', since),
    until: until === undefined ? undefined : parseTime(usage, '--until', until),
    workspace,
    isSummary,
  };
}

/** The beginning of that month (UTC). */
function elevenMonthsAgo(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 11, 1));
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
