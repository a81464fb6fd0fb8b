import { sql } from 'kysely';
import { inThread, ofMessage, Queries, toPostgresJson } from '../queries.ts';
import type { EarlyEditRow, MessageKey, SlackTs, ThreadKey } from '../schema.ts';

/** An edit or a deletion that arrived before its message, or while that was being sent. */
export type EarlyEdit = Pick<EarlyEditRow, 'is_deletion' | 'content' | 'edited_ts'>;

/** Edits and deletions that cannot be applied to their message yet. */
export class EarlyEdits extends Queries {
  /** The early edit of a message, if any. */
  async get(key: MessageKey): Promise<(EarlyEdit & { sent_as_ts: SlackTs | null }) | undefined> {
    return this.first(sql<EarlyEdit & { sent_as_ts: SlackTs | null }>`
      select is_deletion, content, edited_ts, sent_as_ts from early_edits where ${ofMessage(key)}`);
  }

  /** Records an edit, and whose words it keeps: a deletion wins, else the latest edit. */
  async record(key: MessageKey, edit: EarlyEdit, person?: string): Promise<void> {
    const { workspace, channel, ts } = key;
    const { is_deletion, content, edited_ts } = edit;
    await this.changes(sql`
      insert into early_edits (workspace, channel, ts, is_deletion, user_id, content, edited_ts)
      values (${workspace}, ${channel}, ${ts}, ${is_deletion}, ${content === null ? null : (person ?? null)},
        ${content && toPostgresJson(content)}, ${edited_ts})
      on conflict (workspace, channel, ts) do update set
        is_deletion = early_edits.is_deletion or excluded.is_deletion, user_id = excluded.user_id,
        content = case when not early_edits.is_deletion then excluded.content end, edited_ts = excluded.edited_ts,
        -- An edit that is delivered again is the same edit.
        sent_as_ts = case when excluded.edited_ts = early_edits.edited_ts then early_edits.sent_as_ts end
      -- An older edit is out of date.
      where (excluded.edited_ts < early_edits.edited_ts) is not true`);
  }

  /** Claims the edit of a message for the message `by`, which sends it; undefined if another has claimed it. */
  async claim(key: MessageKey, by: SlackTs): Promise<EarlyEdit | undefined> {
    return this.first(sql<EarlyEdit>`
      update early_edits set sent_as_ts = ${by} where ${ofMessage(key)} and sent_as_ts is null
      returning is_deletion, content, edited_ts`);
  }

  /** The message that claimed an edit is not sent: the edit may be claimed again. */
  async release({ workspace, channel, ts }: MessageKey): Promise<void> {
    await this.changes(sql`
      update early_edits set sent_as_ts = null
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

  /** Deletes a thread's orphan replies: they were read back. */
  async clear(thread: ThreadKey): Promise<void> {
    await this.changes(sql`delete from orphan_replies where ${inThread(thread)}`);
  }
}
