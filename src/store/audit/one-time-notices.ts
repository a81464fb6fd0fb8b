import { sql } from 'kysely';
import { Queries } from '../queries.ts';
import type { OneTimeNotice } from '../schema.ts';

/** Names a notice of a channel. */
export interface NoticeKey {
  workspace: string;
  channel: string;
  notice: OneTimeNotice;
}

/** What channels are told once. */
export class OneTimeNotices extends Queries {
  /** True if this caller must post the notice: a turn however often it asks, others once. */
  async claim({ workspace, channel, notice }: NoticeKey, turnId: string | null = null): Promise<boolean> {
    const rows = await this.rows(sql`
      with known as (
        select turn_id from one_time_notices
        where (workspace, channel, notice) = (${workspace}, ${channel}, ${notice})),
      claimed as (
        insert into one_time_notices (workspace, channel, notice, turn_id)
        select ${workspace}, ${channel}, ${notice}, ${turnId} where not exists (select from known)
        on conflict do nothing returning turn_id)
      select from known where turn_id = ${turnId} union all select from claimed`);
    return rows.length > 0;
  }

  /** Gives a claim back: the notice was certainly not posted. */
  async release({ workspace, channel, notice }: NoticeKey): Promise<void> {
    await this.changes(sql`
      delete from one_time_notices where (workspace, channel, notice) = (${workspace}, ${channel}, ${notice})`);
  }
}
