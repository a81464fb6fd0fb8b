import { sql } from 'kysely';
import { Queries } from '../queries.ts';
import type { OneTimeNotice, Turn } from '../schema.ts';

/** What channels are told once. */
export class OneTimeNotices extends Queries {
  /** True if this turn must post the notice, however often it asks; false for all other turns. */
  async claimForTurn(
    { workspace, channel, id }: Pick<Turn, 'workspace' | 'channel' | 'id'>,
    notice: OneTimeNotice,
  ): Promise<boolean> {
    const rows = await this.rows(sql`
      with known as (
        select turn_id from one_time_notices
        where (workspace, channel, notice) = (${workspace}, ${channel}, ${notice})),
      claimed as (
        insert into one_time_notices (workspace, channel, notice, turn_id)
        select ${workspace}, ${channel}, ${notice}, ${id} where not exists (select from known)
        on conflict do nothing returning turn_id)
      select from known where turn_id = ${id} union all select from claimed`);
    return rows.length > 0;
  }
}
