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
    const claim = await this.first(sql<{ turn_id: string | null }>`
      with known as (
        select turn_id from one_time_notices
        where (workspace, channel, notice) = (${workspace}, ${channel}, ${notice})),
      claimed as (
        insert into one_time_notices (workspace, channel, notice, turn_id)
        select ${workspace}, ${channel}, ${notice}, ${id} where not exists (select from known)
        on conflict do nothing returning turn_id)
      select turn_id from known union all select turn_id from claimed`);
    return claim?.turn_id === id;
  }
}
