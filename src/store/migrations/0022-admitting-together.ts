import { type Kysely, sql } from 'kysely';

/**
 * Messages that arrived are written down together, in one transaction, each by `admit_message`; in one order of their
 * threads, so that no two such transactions wait for each other. `held`: the message waits, and its thread is held.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function admit_messages(in_arrived json)
    returns table (place integer, decision text, held boolean) language plpgsql as $$
    declare
      one record;
    begin
      for one in
        select * from json_to_recordset(in_arrived) as arrived (
          place integer, workspace text, channel text, root text, ts numeric, person text, account text, words jsonb,
          edited_ts numeric, addressed boolean, obeyed_deleted boolean, obeyed_ts numeric)
        order by arrived.workspace, arrived.channel, arrived.root, arrived.place
      loop
        place := one.place;
        decision := admit_message(one.workspace, one.channel, one.root, one.ts, one.person, one.account, one.words,
          one.edited_ts, one.addressed, one.obeyed_deleted, one.obeyed_ts);
        held := decision in ('waits', 'next') and exists (
          select from threads where threads.workspace = one.workspace and threads.channel = one.channel
            and threads.root = one.root::numeric and threads.held_turn is not null);
        return next;
      end loop;
    end $$`.execute(db);
}
