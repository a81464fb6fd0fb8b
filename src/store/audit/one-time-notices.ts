import { changesRow, Queries } from '../queries.ts';
import type { OneTimeNotice, Tables, Turn } from '../schema.ts';

/** Names a notice of a channel. */
export type NoticeKey = Pick<Tables['one_time_notices'], 'workspace' | 'channel' | 'notice'>;

/** What channels are told once. */
export class OneTimeNotices extends Queries {
  /** True if this caller must post the notice; false for all later callers. */
  async claim(key: NoticeKey): Promise<boolean> {
    return this.#insert({ ...key, turn_id: null });
  }

  /** True if this turn must post the notice, however often it asks; false for all other turns. */
  async claimForTurn(
    { workspace, channel, id }: Pick<Turn, 'workspace' | 'channel' | 'id'>,
    notice: OneTimeNotice,
  ): Promise<boolean> {
    const key = { workspace, channel, notice };
    if (await this.#insert({ ...key, turn_id: id })) return true;
    const row = await this.db
      .selectFrom('one_time_notices')
      .select('turn_id')
      .where((where) => where.and(key))
      .executeTakeFirst();
    return row?.turn_id === id;
  }

  /** Gives a claim back: the notice was certainly not posted. */
  async release({ workspace, channel, notice }: NoticeKey): Promise<void> {
    await this.db
      .deleteFrom('one_time_notices')
      .where((where) => where.and({ workspace, channel, notice }))
      .execute();
  }

  async #insert(row: NoticeKey & { turn_id: string | null }): Promise<boolean> {
    return changesRow(
      this.db
        .insertInto('one_time_notices')
        .values(row)
        .onConflict((conflict) => conflict.doNothing()),
    );
  }
}
