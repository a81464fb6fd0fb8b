import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { MessageKey, ProjectKey, Tables, ThreadKey, TurnId } from './schema.ts';

/** Queries about one subject, on a connection pool or inside one transaction. */
export abstract class Queries {
  readonly db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.db = db;
  }

  /** The rows that a statement returns. */
  protected async rows<Row>(statement: RawBuilder<Row>): Promise<Row[]> {
    return (await statement.execute(this.db)).rows;
  }

  /** The first row that a statement returns. */
  protected async first<Row>(statement: RawBuilder<Row>): Promise<Row | undefined> {
    return (await this.rows(statement))[0];
  }

  /** Whether a statement returns a row. */
  protected async exists(statement: RawBuilder<unknown>): Promise<boolean> {
    return (await this.rows(statement)).length > 0;
  }

  /** Runs a statement; returns whether it inserted, updated or deleted a row. */
  protected async changes(statement: RawBuilder<unknown>): Promise<boolean> {
    return changesRow(this.db, statement);
  }
}

/** Runs a statement; returns whether it inserted, updated or deleted a row. */
export async function changesRow(db: Kysely<Tables>, statement: RawBuilder<unknown>): Promise<boolean> {
  return (await countChanges(db, statement)) > 0;
}

/** Runs a statement; returns how many rows it inserted, updated or deleted. */
export async function countChanges(db: Kysely<Tables>, statement: RawBuilder<unknown>): Promise<number> {
  return Number((await statement.execute(db)).numAffectedRows ?? 0);
}

/** How JSON writes NUL characters and lone surrogates. */
const MAY_BE_REJECTED = /\\u(?:0000|d[89a-f])/;

/** A value as JSON that PostgreSQL accepts: without NUL characters and lone surrogates, which it rejects. */
export function toPostgresJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!MAY_BE_REJECTED.test(json)) return json;
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === 'string') return withoutInvalidCharacters(part);
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(
      Object.entries(part).map(([name, inner]) => [withoutInvalidCharacters(name), inner]),
    );
  });
}

function withoutInvalidCharacters(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '');
}

/** A number of milliseconds, fractions included, as PostgreSQL's interval. */
export function millis(ms: number) {
  return sql`${ms}::float8 * interval '1 ms'`;
}

/** A time `ms` from now, by the database's clock, which advances during a transaction (`now()` does not). */
export function fromNow(ms: number) {
  return sql<Date>`clock_timestamp() + ${millis(ms)}`;
}

/** When to try again what has been tried since the time in this column, if at all: after as long as that, within limits (ms). */
export function nextTry(since: string, { shortest, longest }: { shortest: number; longest: number }) {
  const triedFor = sql`clock_timestamp() - ${sql.ref(since)}`;
  return sql<Date>`clock_timestamp() + least(${millis(longest)}, greatest(${millis(shortest)}, ${triedFor}))`;
}

/** A time `days` ago. */
export function daysAgo(days: number) {
  return sql<Date>`now() - ${days} * interval '1 day'`;
}

/** Rows of a thread, for tables with `workspace`, `channel` and `thread_ts`. */
export function inThread({ workspace, channel, thread_ts }: ThreadKey) {
  return sql<boolean>`(workspace, channel, thread_ts) = (${workspace}, ${channel}, ${thread_ts})`;
}

/** Rows of the same thread in two tables, or aliases of tables, with `workspace`, `channel` and `thread_ts`. */
export function sameThread(one: string, other: string) {
  const keyOf = (table: string) => sql.raw(`(${table}.workspace, ${table}.channel, ${table}.thread_ts)`);
  return sql<boolean>`${keyOf(one)} = ${keyOf(other)}`;
}

/** Rows of a message, for tables with `workspace`, `channel` and `ts`. */
export function ofMessage({ workspace, channel, ts }: MessageKey) {
  return sql<boolean>`(workspace, channel, ts) = (${workspace}, ${channel}, ${ts})`;
}

/** A message with those that its turn sends, too. For the table of messages. */
export function sentAs({ workspace, channel, ts }: MessageKey) {
  return sql<boolean>`(workspace, channel) = (${workspace}, ${channel}) and (ts = ${ts} or sent_with_ts = ${ts})`;
}

/** The turn itself, for the table of turns. */
export function isTurn({ workspace, id }: TurnId) {
  return sql<boolean>`(workspace, id) = (${workspace}, ${id})`;
}

/** Rows of a turn, for tables with `workspace` and `turn_id`. */
export function ofTurn({ workspace, id }: TurnId) {
  return sql<boolean>`(workspace, turn_id) = (${workspace}, ${id})`;
}

/** A channel's project under a service account, for the table of projects. */
export function ofProject({ workspace, channel, account_id }: ProjectKey) {
  return sql<boolean>`(workspace, channel, account_id) = (${workspace}, ${channel}, ${account_id})`;
}

/** Whether a message, found by this `ts`, has a turn that meets `condition`, for the table of messages. */
export function hasTurn(condition = sql<boolean>`true`, ts = sql`messages.ts`) {
  return sql<boolean>`exists (
    select from turns where turns.workspace = messages.workspace and turns.channel = messages.channel
      and turns.message_ts = ${ts} and ${condition})`;
}

// Values of partial indexes stand in the text of a statement: a prepared one does not find such an index by a parameter.

/** Whether a message waits for its turn. */
export const isWaiting = sql<boolean>`messages.state = 'waiting'`;

/** Whether a message is not at the service yet. */
export const isUnsent = sql<boolean>`messages.state in ('waiting', 'sending')`;

/** Whether a message is a reply. For the table of messages, whose replies alone an index finds by their thread. */
export const isReply = sql<boolean>`messages.thread_ts <> messages.ts`;

/** Whether a message may be sent: its thread is not paused, or a button sent it again. For the table of messages. */
export const maySend = sql<boolean>`(messages.resends_turn_id is not null or not exists (
  select from threads where ${sameThread('threads', 'messages')} and threads.paused_by_turn_id is not null))`;

/** Whether no process holds the claim on a row; `until` is the column with the end of the claim. */
export function isUnclaimed(until = 'claimed_until') {
  return sql<boolean>`(${sql.ref(until)} is null or ${sql.ref(until)} < clock_timestamp())`;
}

/** Whether the app is installed in the row's workspace. */
export const isInstalled = sql<boolean>`workspace not in (
  select workspace from workspaces where uninstalled_at is not null or access_revoked_at is not null)`;

/** The workspaces that a workspace's installation reaches, with itself: an organisation's workspaces may share channels. */
export function reachedWith(workspace: string) {
  return sql<{ workspace: string }>`
    select ${workspace}::text as workspace union
    select sibling.workspace from workspaces as own join workspaces as sibling using (installation_id)
    where own.workspace = ${workspace}`;
}
