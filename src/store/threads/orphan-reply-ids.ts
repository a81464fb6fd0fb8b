import type { Kysely } from 'kysely';
import { inThread } from '../filters.ts';
import type { ThreadKey } from '../keys.ts';
import type { SlackTs, Tables } from '../schema.ts';

/** Replies in threads that were not ours when they arrived: ids only, forgotten after ten minutes. */
export class OrphanReplyIds {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  async add(thread: ThreadKey, ts: SlackTs): Promise<void> {
    await this.#db
      .insertInto('orphan_replies')
      .values({ ...thread, ts })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }

  /** The strays of a thread that is ours now, later than the message that made it ours. */
  async after(thread: ThreadKey, ts: SlackTs): Promise<SlackTs[]> {
    const rows = await this.#db
      .selectFrom('orphan_replies')
      .select('ts')
      .where(inThread(thread))
      .where('ts', '>', ts)
      .orderBy('ts')
      .execute();
    return rows.map((row) => row.ts);
  }

  /** Forgets a thread's strays: they were read back. */
  async clear(thread: ThreadKey): Promise<void> {
    await this.#db.deleteFrom('orphan_replies').where(inThread(thread)).execute();
  }
}
