import { type Kysely, sql } from 'kysely';
import { inThread } from '../filters.ts';
import type { ThreadKey } from '../keys.ts';
import type { Tables, Turn } from '../schema.ts';

/** Results that were claimed for one post. */
export interface ClaimedResult {
  turn: string;
  /** '' for those of the turn's own end, else a name for those that came later together. */
  batch: string;
  shown: boolean;
}

/** Results and where they are posted: each once per thread. */
export class PostedResults {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** What each of the thread's results was claimed for, by result id. */
  async ofThread(thread: ThreadKey): Promise<Map<string, ClaimedResult>> {
    const rows = await this.#db
      .selectFrom('posted_results')
      .select(['result_id', 'turn', 'batch', 'posted_at'])
      .where(inThread(thread))
      .execute();
    return new Map(
      rows.map(({ result_id, turn, batch, posted_at }) => [
        result_id,
        { turn, batch, shown: posted_at !== null },
      ]),
    );
  }

  /** Claims results for a post; one that another post claimed stays with it. */
  async claim(turn: Turn, batch: string, resultIds: readonly string[]): Promise<void> {
    if (resultIds.length === 0) return;
    const { workspace, channel, root } = turn;
    await this.#db
      .insertInto('posted_results')
      .values(resultIds.map((result_id) => ({ workspace, channel, root, result_id, turn: turn.id, batch })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }

  /** A post is in the thread. */
  async markPosted(turn: Turn, batch: string): Promise<void> {
    await this.#db
      .updateTable('posted_results')
      .set({ posted_at: sql<Date>`now()` })
      .where(inThread(turn))
      .where('turn', '=', turn.id)
      .where('batch', '=', batch)
      .execute();
  }
}
