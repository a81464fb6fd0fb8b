import { inThread } from '../filters.ts';
import type { ThreadKey } from '../keys.ts';
import { Queries } from '../queries.ts';
import type { SlackTs } from '../schema.ts';

/** Replies in threads that were not ours when they arrived: ids only, for ten minutes. */
export class OrphanReplyIds extends Queries {
  async add(thread: ThreadKey, ts: SlackTs): Promise<void> {
    await this.db
      .insertInto('orphan_replies')
      .values({ ...thread, ts })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }

  /** The orphan replies of a thread after a ts, oldest first. */
  async after(thread: ThreadKey, ts: SlackTs): Promise<SlackTs[]> {
    const rows = await this.db
      .selectFrom('orphan_replies')
      .select('ts')
      .where(inThread(thread))
      .where('ts', '>', ts)
      .orderBy('ts')
      .execute();
    return rows.map((row) => row.ts);
  }

  /** Deletes a thread's orphan replies: they were read back. */
  async clear(thread: ThreadKey): Promise<void> {
    await this.db.deleteFrom('orphan_replies').where(inThread(thread)).execute();
  }
}
