import type { Kysely } from 'kysely';
import type { Tables, Turn } from './tables.ts';
import type { ThreadKey } from './threads.ts';

/** Results that were posted: each once per thread. */
export class Results {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** The turn under which each of the thread's results was posted, by result id. */
  async of(thread: ThreadKey): Promise<Map<string, string>> {
    const rows = await this.#db
      .selectFrom('results')
      .select(['result_id', 'turn'])
      .where('workspace', '=', thread.workspace)
      .where('channel', '=', thread.channel)
      .where('root', '=', thread.root)
      .execute();
    return new Map(rows.map((row) => [row.result_id, row.turn]));
  }

  /** Claims results for a turn's post; one that another turn claimed stays with it. */
  async claim(turn: Turn, resultIds: readonly string[]): Promise<void> {
    if (resultIds.length === 0) return;
    const { workspace, channel, root } = turn;
    await this.#db
      .insertInto('results')
      .values(resultIds.map((result_id) => ({ workspace, channel, root, result_id, turn: turn.id })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}
