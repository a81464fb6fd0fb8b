import { sql } from 'kysely';
import type { MessageKey, ProjectKey, ThreadKey } from './keys.ts';
import type { TurnId } from './schema.ts';

/** The rows of a thread: for tables with `workspace`, `channel` and `root`. */
export function inThread({ workspace, channel, root }: ThreadKey) {
  return sql<boolean>`(workspace, channel, root) = (${workspace}, ${channel}, ${root})`;
}

/** The rows of a message: for tables with `workspace`, `channel` and `ts`. */
export function ofMessage({ workspace, channel, ts }: MessageKey) {
  return sql<boolean>`(workspace, channel, ts) = (${workspace}, ${channel}, ${ts})`;
}

/** The turn itself: for the table of turns. */
export function isTurn({ workspace, id }: TurnId) {
  return sql<boolean>`(workspace, id) = (${workspace}, ${id})`;
}

/** The rows of a turn: for tables with `workspace` and `turn`. */
export function ofTurn({ workspace, id }: TurnId) {
  return sql<boolean>`(workspace, turn) = (${workspace}, ${id})`;
}

/** A channel's project under an account: for the table of projects. */
export function ofProject({ workspace, channel, account }: ProjectKey) {
  return sql<boolean>`(workspace, channel, account) = (${workspace}, ${channel}, ${account})`;
}

/** Whether a message has its turn; `also` narrows which. For tables named messages. */
export function hasTurn(also = sql<boolean>`true`) {
  return sql<boolean>`exists (
    select from turns where turns.workspace = messages.workspace and turns.channel = messages.channel
      and turns.message_ts = messages.ts and ${also})`;
}

/** Whether a message may go: its thread is not held, or a button sent it again. For tables named messages. */
export const maySend = sql<boolean>`(messages.resends is not null or not exists (
  select from threads where threads.workspace = messages.workspace and threads.channel = messages.channel
    and threads.root = messages.root and threads.paused_by_turn_id is not null))`;

/** Whether nobody holds the claim on a row: `until` is the column with the end of its claim. */
export function isUnclaimed(until = 'claimed_until') {
  return sql<boolean>`(${sql.ref(until)} is null or ${sql.ref(until)} < clock_timestamp())`;
}
