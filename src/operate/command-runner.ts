import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { type Logger, pino } from 'pino';
import { type Config, ConfigError, readCommandConfig } from '../config/environment-and-secret-files.ts';
import { type EmbeddedServer, startEmbeddedServer } from '../postgres/embedded-server.ts';
import { errorMessage } from '../postgres/errors.ts';
import { findRunningServer } from '../postgres/running-server.ts';
import type { AuditRange } from '../store/audit-trail.ts';
import { openDatabase } from '../store/database.ts';
import { Store } from '../store/store.ts';

type DatabaseSettings = Pick<Config, 'DATABASE_URL' | 'DATABASE_DIRECT_URL' | 'DATA_FOLDER'>;

const EXIT_CODES = 'Exit code: 0 if all went well, 1 if something failed, 2 if the command line is wrong.';

/**
 * How an operator's command is called here: by npm in a clone, by its file in the image. Where the command prints data,
 * npm must add no lines of its own (`isSilent`).
 */
export function commandLine(command: string, options = '', isSilent = false): string {
  const inClone = `npm run ${isSilent ? '-s ' : ''}${command}${options === '' ? '' : ` -- ${options}`}`;
  return import.meta.filename.endsWith('.ts')
    ? inClone
    : `node dist/operate/${command}.js ${options}`.trimEnd();
}

/** Runs an operator's command and exits; a failure prints its message. `--help` only prints the help. */
export async function runCommand(help: string, work: () => Promise<number>): Promise<never> {
  exitIfHelpIsAsked(`${help}\n\n${EXIT_CODES}`);
  // As in `npm run doctor | head -3`: nobody reads on.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  try {
    process.exit(await work());
  } catch (error) {
    for (const message of describeErrors(error, 'The command failed')) console.error(message);
    process.exit(error instanceof UsageError ? 2 : 1);
  }
}

/** Prints the help and exits if the command line asks for it. */
export function exitIfHelpIsAsked(help: string): void {
  if (!process.argv.includes('--help')) return;
  console.log(help);
  process.exit(0);
}

/** Reads the options of a command line. Throws UsageError. */
export function parseOptions<const Options extends ParseArgsOptionsConfig>(
  usage: string,
  args: readonly string[],
  options: Options,
) {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new UsageError(usage, errorMessage(error));
  }
}

/** How Node says that a package is missing. */
const MISSING_PACKAGE = /^Cannot find package '([^']+)' imported from /;

/** A sentence for each failure that the error stands for, the first one first; `prefix` says what failed. */
export function describeErrors(error: unknown, prefix: string): string[] {
  return flattenSuppressedErrors(error).map((failure) => {
    const message = errorMessage(failure);
    if (failure instanceof ConfigError || failure instanceof UsageError) return message;
    const missing = MISSING_PACKAGE.exec(message);
    return missing === null
      ? `${prefix}: ${message}`
      : `The package ${missing[1]} is not installed, as npm leaves out what only development needs if NODE_ENV is production: run "npm ci --include=dev".`;
  });
}

/** The failures that an error stands for, the first one first: closing what was open may have failed too. */
export function flattenSuppressedErrors(error: unknown): unknown[] {
  if (!(error instanceof SuppressedError)) return [error];
  return [...flattenSuppressedErrors(error.suppressed), ...flattenSuppressedErrors(error.error)];
}

/** The command line cannot be used; `message` shows the usage. */
export class UsageError extends Error {
  readonly code = 'bad_usage';

  constructor(usage: string, problem: string) {
    super(`${problem}\nUsage: ${usage}`);
    this.name = 'UsageError';
  }
}

/** The embedded server, shared with a running process, or started until `cleanup`; undefined with DATABASE_URL. */
export async function embeddedServer(
  { DATABASE_URL, DATA_FOLDER: folder }: DatabaseSettings,
  log: Logger,
  cleanup: AsyncDisposableStack,
): Promise<Pick<EmbeddedServer, 'connection'> | undefined> {
  if (DATABASE_URL !== undefined) return undefined;
  const running = await findRunningServer(folder);
  if (running !== undefined) return { connection: running };
  const server = await startEmbeddedServer({ folder, log });
  cleanup.defer(() => server.stop());
  return server;
}

/** Runs a command on the database of the settings, past any pooler. An embedded one is shared with a running process, or started. */
export async function withOperatorStore<T>(
  config: DatabaseSettings,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const log = pino({ level: 'silent' });
  await using cleanup = new AsyncDisposableStack();
  const embedded = await embeddedServer(config, log, cleanup);
  const url = config.DATABASE_DIRECT_URL ?? config.DATABASE_URL;
  const database = await openDatabase({ url, embedded, log, isCommand: true });
  cleanup.defer(() => database.close());
  return await work(new Store(database.kysely));
}

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
  const summary = { type: 'boolean', default: false } as const;
  const options = { since: text, until: text, workspace: text, summary };
  const { since, until, workspace, summary: isSummary } = parseOptions(usage, args, options);
  if (workspace !== undefined && !/^[TE][A-Z0-9]+$/.test(workspace))
    throw new UsageError(usage, `${workspace} is not a workspace ID.`);
  if (isSummary && command.summary === undefined) throw new UsageError(usage, 'It has no --summary.');
  if (since === undefined && !isSummary) throw new UsageError(usage, '--since is missing.');
  const now = new Date();
  const elevenMonthsAgo = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 11));
  const from = since === undefined ? elevenMonthsAgo : parseTime(usage, '--since', since);
  const to = until === undefined ? undefined : parseTime(usage, '--until', until);
  if (to !== undefined && to <= from)
    throw new UsageError(usage, `--until is not after ${from.toISOString()}.`);
  return { since: from, until: to, workspace, isSummary };
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
