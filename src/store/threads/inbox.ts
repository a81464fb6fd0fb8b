import { sql } from 'kysely';
import { type JobClaim, jobColumns } from '../jobs/jobs.ts';
import { inThread, ofMessage, Queries, toPostgresJson } from '../queries.ts';
import type {
  Job,
  Message,
  MessageContent,
  MessageKey,
  PendingEditRow,
  SlackTs,
  ThreadKey,
} from '../schema.ts';

/** A message that arrived. */
export interface InboxMessage
  extends Pick<Message, keyof ThreadKey | 'ts' | 'user_id' | 'edited_ts' | 'is_partial' | 'client_msg_id'> {
  /** Of an unsent message, only the ids are kept. */
  content: MessageContent;
  /** What it becomes; null: its thread was not ours when the caller looked. */
  state: 'waiting' | 'unsent' | null;
  /** The service account of a thread that starts with it. */
  account_id: string;
  /** It is for us even if its thread is not ours. */
  is_addressed: boolean;
  /** The pending edit that `content` already contains. */
  appliedEdit: PendingEdit | undefined;
  /** The caller knows that the bot answers there. */
  is_place_checked: boolean;
  /** For the thread's job, if that is new. */
  claim?: JobClaim | undefined;
}

/** What became of a message. */
export interface InboxDecision {
  /**
   * `changed`: nothing was written, because a pending edit has not been applied or the thread has become ours; `limited`: nor
   * was it, because people have set where the bot answers, which the caller has not checked.
   */
  decision: 'changed' | 'limited' | 'orphan' | 'unsent' | 'known' | 'withdrawn' | 'waits' | 'next';
  /** It waits in a paused thread. */
  is_paused: boolean;
  /** The `ts` under which it is known: another one if a client sent the message twice. */
  known_ts: SlackTs | null;
  /** The thread's job, if it has the message's claim. */
  job: Job | undefined;
}

/** Writes arriving messages. */
export class InboxWriter extends Queries {
  /** Decides about a message and writes it with its thread (the SQL function `record_message` of the baseline). */
  async write(message: InboxMessage): Promise<InboxDecision> {
    const { workspace, channel, thread_ts, ts, user_id, account_id, edited_ts, appliedEdit } = message;
    const { is_partial, client_msg_id, claim } = message;
    const row = await this.first(sql<Omit<InboxDecision, 'job'> & Job>`
      select decision, is_paused, known_ts, ${jobColumns('job')} from record_message(
        ${workspace}, ${channel}, ${thread_ts}, ${ts}, ${user_id}, ${account_id}, ${toPostgresJson(message.content)},
        ${edited_ts}, ${message.state}, ${message.is_addressed}, ${appliedEdit?.is_deletion}, ${appliedEdit?.edited_ts},
        ${is_partial}, ${client_msg_id}, ${message.is_place_checked}, ${claim?.id}, ${claim?.holder}, ${claim?.holdMs})`);
    if (row === undefined) throw new Error('record_message returned no decision.');
    const { decision, is_paused, known_ts, ...job } = row;
    const isOurs = claim !== undefined && job.claim_id === claim.id;
    return { decision, is_paused, known_ts, job: isOurs ? job : undefined };
  }
}

/** An edit or a deletion that arrived before its message, or once that was being sent. */
export type PendingEdit = Pick<PendingEditRow, 'is_deletion' | 'content' | 'edited_ts'>;

/** Edits and deletions that cannot be applied to their message yet. */
export class PendingEdits extends Queries {
  /** The pending edit of a message, if any. */
  async get(key: MessageKey): Promise<(PendingEdit & { sent_as_ts: SlackTs | null }) | undefined> {
    return this.first(sql<PendingEdit & { sent_as_ts: SlackTs | null }>`
      select is_deletion, content, edited_ts, sent_as_ts from pending_edits where ${ofMessage(key)}`);
  }

  /** Whether a message was deleted before it arrived, or after it was sent. */
  async isDeleted(key: MessageKey): Promise<boolean> {
    return (await this.get(key))?.is_deletion === true;
  }

  /** Records an edit, and whose words it keeps: a deletion wins, else the latest edit. */
  async record(key: MessageKey, edit: PendingEdit, person?: string): Promise<void> {
    const { workspace, channel, ts } = key;
    const { is_deletion, content, edited_ts } = edit;
    await this.changes(sql`
      insert into pending_edits (workspace, channel, ts, is_deletion, user_id, content, edited_ts)
      values (${workspace}, ${channel}, ${ts}, ${is_deletion}, ${content === null ? null : (person ?? null)},
        ${content && toPostgresJson(content)}, ${edited_ts})
      on conflict (workspace, channel, ts) do update set
        is_deletion = pending_edits.is_deletion or excluded.is_deletion, user_id = excluded.user_id,
        content = case when not pending_edits.is_deletion then excluded.content end, edited_ts = excluded.edited_ts,
        sent_as_ts = null, received_at = now()
      -- An older edit is out of date.
      where (excluded.edited_ts < pending_edits.edited_ts) is not true`);
  }

  /** Claims the edit of a message for the message `by`, which sends it; undefined if another has claimed it. */
  async claim(key: MessageKey, by: SlackTs): Promise<PendingEdit | undefined> {
    return this.first(sql<PendingEdit>`
      update pending_edits set sent_as_ts = ${by} where ${ofMessage(key)} and sent_as_ts is null
      returning is_deletion, content, edited_ts`);
  }

  /** The message that claimed an edit is not sent: the edit may be claimed again, and its note counts as unseen. */
  async release({ workspace, channel, ts }: MessageKey): Promise<void> {
    await this.changes(sql`
      update pending_edits set sent_as_ts = null, edited_ts = null
      where workspace = ${workspace} and channel = ${channel} and sent_as_ts = ${ts}`);
  }
}

/** Replies in threads that were not ours when they arrived: ids only, for ten minutes. */
export class OrphanReplyIds extends Queries {
  async add(thread: ThreadKey, ts: SlackTs): Promise<void> {
    const { workspace, channel, thread_ts } = thread;
    await this.changes(sql`
      insert into orphan_replies (workspace, channel, thread_ts, ts) values (${workspace}, ${channel}, ${thread_ts}, ${ts})
      on conflict do nothing`);
  }

  /** The orphan replies of a thread after a ts, oldest first. */
  async after(thread: ThreadKey, ts: SlackTs): Promise<SlackTs[]> {
    const rows = await this.rows(sql<{ ts: SlackTs }>`
      select ts from orphan_replies where ${inThread(thread)} and ts > ${ts} order by ts`);
    return rows.map((row) => row.ts);
  }
}
