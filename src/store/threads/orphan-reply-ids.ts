import { sql } from 'kysely';
import { inThread } from '../filters.ts';
import type { ThreadKey } from '../keys.ts';
import { Queries } from '../queries.ts';
import type { SlackTs } from '../schema.ts';

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
