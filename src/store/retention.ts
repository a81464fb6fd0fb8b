import { type Kysely, sql } from 'kysely';
import { Accounts } from './accounts.ts';
import { Audit } from './audit.ts';
import { Oblivion } from './oblivion.ts';
import type { Tables } from './tables.ts';

/** How long what is kept, in days. */
export interface RetentionDays {
  /** People's words after the turn is done: so long a failed turn can be tried again. */
  words: number;
  /** Messages, turns and posts after that; never less than Slack's redelivery of 24 hours. */
  rows: number;
  /** The audit trail. */
  audit: number;
  /** All rows of a workspace after the app was uninstalled there. */
  uninstalled: number;
}

/** Rows that one statement touches at most, so that nothing is held for long. */
const batch = 1_000;

/** What is deleted when its time is over. */
export class Retention {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Deletes what is due; the answer is how many rows were touched. */
  async sweep(days: RetentionDays): Promise<number> {
    const done = sql`messages.state not in ('waiting', 'sending')`;
    const counts = [
      await this.#run(sql`delete from strays where seen_at < now() - interval '10 minutes'`),
      await this.#run(sql`delete from early_changes where seen_at < now() - interval '2 days'`),
      await this.#run(sql`delete from catch_ups where noted_at < now() - interval '3 days'`),
      await this.#run(sql`delete from receivers where held_until < now() - interval '1 hour'`),
      // A lane that nobody used for so long is as good as new.
      await this.#run(sql`delete from lanes where greatest(tat, held_until) < now() - interval '1 day'`),
      await this.#run(sql`delete from spent_states where spent_at < now() - interval '1 day'`),
      await this.#run(sql`delete from uploads where begun_at < now() - interval '7 days'`),
      // A form that nobody sent is dropped with what it is about; one that could not be posted was given up long ago.
      await this.#run(sql`
        delete from starts where made_at < now() - case
          when state = 'draft' and words is null then interval '2 hours' else interval '2 days' end`),
      await this.#run(sql`delete from task_deletions where told_at < now() - interval '7 days'`),
      await this.#run(sql`delete from watches where until_at < now() - interval '1 day'`),
      // What is held and nobody lets go would stay for ever.
      await this.#run(sql`
        update messages set state = 'withdrawn', words = null where (workspace, channel, ts) in (
          select messages.workspace, messages.channel, messages.ts from messages
          join threads using (workspace, channel, root)
          where messages.state = 'waiting' and messages.resends is null and threads.held_turn is not null
            and messages.received_at < now() - ${days.words} * interval '1 day' limit ${batch})`),
      await this.#run(sql`
        update threads set held_turn = null where held_turn is not null and not exists (
          select from messages where messages.workspace = threads.workspace
            and messages.channel = threads.channel and messages.root = threads.root
            and messages.state = 'waiting' and messages.resends is null)`),
      await this.#run(sql`
        update messages set words = null where (workspace, channel, ts) in (
          select workspace, channel, ts from messages
          where words is not null and ${done} and received_at < now() - ${days.words} * interval '1 day'
          limit ${batch})`),
      await this.#run(sql`
        update turns set content = null where (workspace, id) in (
          select workspace, id from turns
          where content is not null and finished_at < now() - ${days.words} * interval '1 day' limit ${batch})`),
      await this.#run(sql`
        update feedback set comment = null where (workspace, turn, person) in (
          select workspace, turn, person from feedback
          where comment is not null and said_at < now() - ${days.words} * interval '1 day' limit ${batch})`),
      await this.#run(sql`
        delete from feedback where (workspace, turn, person) in (
          select workspace, turn, person from feedback
          where said_at < now() - ${days.rows} * interval '1 day' limit ${batch})`),
      await this.#run(sql`
        delete from posts where (workspace, turn) in (
          select workspace, id from turns
          where finished_at < now() - ${days.rows} * interval '1 day' limit ${batch})`),
      await this.#run(sql`
        delete from slack_files where (workspace, turn) in (
          select workspace, id from turns
          where finished_at < now() - ${days.rows} * interval '1 day' limit ${batch})`),
      await this.#run(sql`
        delete from turns where (workspace, id) in (
          select workspace, id from turns
          where finished_at < now() - ${days.rows} * interval '1 day'
            and not exists (select from posts where posts.workspace = turns.workspace and posts.turn = turns.id)
          limit ${batch})`),
      await this.#run(sql`
        delete from messages where (workspace, channel, ts) in (
          select workspace, channel, ts from messages
          where ${done} and received_at < now() - ${days.rows} * interval '1 day' limit ${batch})`),
    ];
    counts.push(await new Audit(this.#db).expire(days.audit));
    counts.push(await new Accounts(this.#db).dropKeys());
    counts.push(await new Oblivion(this.#db).left(days.uninstalled));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async #run(statement: ReturnType<typeof sql>): Promise<number> {
    const { numAffectedRows } = await statement.execute(this.#db);
    return Number(numAffectedRows ?? 0);
  }
}
