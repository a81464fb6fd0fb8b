import { type RawBuilder, sql } from 'kysely';
import type { MessageKey, ProjectKey, ThreadKey, TurnId } from './schema.ts';

/** A number of milliseconds, fractions included, as PostgreSQL's interval. */
export function millis(ms: number) {
  return sql`${ms}::float8 * interval '1 ms'`;
}

/** A time `ms` from now, by the database's clock, which advances during a transaction (`now()` does not). */
export function fromNow(ms: number) {
  return sql<Date>`clock_timestamp() + ${millis(ms)}`;
}

/** A time `days` ago. */
export function daysAgo(days: number) {
  return sql<Date>`now() - ${days} * interval '1 day'`;
}

/** Rows of a thread, for tables with `workspace`, `channel` and `thread_ts`. */
export function inThread({ workspace, channel, thread_ts }: ThreadKey) {
  return sql<boolean>`(workspace, channel, thread_ts) = (${workspace}, ${channel}, ${thread_ts})`;
}

/** Rows of a message, for tables with `workspace`, `channel` and `ts`. */
export function ofMessage({ workspace, channel, ts }: MessageKey) {
  return sql<boolean>`(workspace, channel, ts) = (${workspace}, ${channel}, ${ts})`;
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

/** Whether a message has a turn that meets `condition`, for the table of messages. */
export function hasTurn(condition = sql<boolean>`true`) {
  return sql<boolean>`exists (
    select from turns where turns.workspace = messages.workspace and turns.channel = messages.channel
      and turns.message_ts = messages.ts and ${condition})`;
}

// Values of partial indexes stand in the text of a statement: a prepared one does not find such an index by a parameter.

/** Whether a message waits for its turn. */
export const isWaiting = sql<boolean>`messages.state = 'waiting'`;

/** Whether a message is not at the service yet. */
export const isUnsent = sql<boolean>`messages.state in ('waiting', 'sending')`;

/** Whether a message may be sent: its thread is not paused, or a button sent it again. For the table of messages. */
export const maySend = sql<boolean>`(messages.resends_turn_id is not null or not exists (
  select from threads where threads.workspace = messages.workspace and threads.channel = messages.channel
    and threads.thread_ts = messages.thread_ts and threads.paused_by_turn_id is not null))`;

/** Whether no process holds the claim on a row; `until` is the column with the end of the claim. */
export function isUnclaimed(until = 'claimed_until') {
  return sql<boolean>`(${sql.ref(until)} is null or ${sql.ref(until)} < clock_timestamp())`;
}

/** Whether the app is installed in the row's workspace. */
export const isInstalled = sql<boolean>`workspace not in (
  select workspace from workspaces where uninstalled_at is not null or access_revoked_at is not null)`;

/** The row's place among those of its workspace: taken in this order, no workspace's rows hide those of another. */
export function placeInWorkspace(order: RawBuilder<unknown>) {
  return sql<number>`row_number() over (partition by workspace order by ${order}) as place`;
}
