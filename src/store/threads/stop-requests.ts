import { type Kysely, sql } from 'kysely';
import { inThread, isTurn, maySend } from '../filters.ts';
import type { ThreadKey } from '../keys.ts';
import type { Message, SlackTs, Tables, Turn, TurnId } from '../schema.ts';

/** From so long (s) after the first, another ask for a stop means: at once. */
export const FORCE_AFTER_SECONDS = 10;

/** Somebody asks for the stop of a turn. */
export interface StopRequest {
  workspace: string;
  turn: string;
  person: string;
  /** When, by Slack's clock: what is delivered again asks no second time. */
  ts: SlackTs;
}

/** What an ask for a stop means; `waits`: it was asked for before, and the time to force it has not come. */
export interface StopRequestResult {
  kind: 'asked' | 'same' | 'waits' | 'forced';
  turn: Turn;
}

/** Asks for stops, and what became of them. */
export class StopRequests {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Records an ask; undefined where the turn is over. To be called in a transaction. The first who asked stays named. */
  async record({ workspace, turn: id, person, ts }: StopRequest): Promise<StopRequestResult | undefined> {
    const turn = await this.#db
      .selectFrom('turns')
      .selectAll()
      .where(isTurn({ workspace, id }))
      .where('settled_at', 'is', null)
      .where('finished_at', 'is', null)
      .forUpdate()
      .executeTakeFirst();
    if (turn === undefined) return undefined;
    if (turn.stop_asked_at === null) {
      const set = { stop_asked_by: person, stop_asked_at: new Date(), stop_ts: ts };
      return { kind: 'asked', turn: await this.#update(turn, set) };
    }
    const sinceSeconds = Number(ts) - Number(turn.stop_ts ?? turn.stop_asked_at.getTime() / 1_000);
    if (sinceSeconds <= 0 || turn.force_asked_at !== null) return { kind: 'same', turn };
    if (sinceSeconds < FORCE_AFTER_SECONDS) return { kind: 'waits', turn };
    return { kind: 'forced', turn: await this.#update(turn, { force_asked_at: new Date() }) };
  }

  /** The service has taken a stop. */
  async markSent(turn: TurnId, how: 'graceful' | 'forced'): Promise<void> {
    await this.#update(turn, how === 'forced' ? { force_sent_at: new Date() } : { stop_sent_at: new Date() });
  }

  /** Turns of all threads that are to be stopped and are not settled yet. */
  async unsettled(limit: number): Promise<Turn[]> {
    return this.#db
      .selectFrom('turns')
      .selectAll()
      .where('stop_asked_at', 'is not', null)
      .where('finished_at', 'is', null)
      .where('settled_at', 'is', null)
      .orderBy('id')
      .limit(limit)
      .execute();
  }

  /** The turn at work in a thread that has not settled: the running one, else the first that it passed on. */
  async runningTurn(thread: ThreadKey): Promise<Turn | undefined> {
    return this.#db
      .selectFrom('turns')
      .selectAll()
      .where(inThread(thread))
      .where('finished_at', 'is', null)
      .where('settled_at', 'is', null)
      .orderBy(sql`passed_on_by is not null`)
      .orderBy('id')
      .limit(1)
      .executeTakeFirst();
  }

  /** The last message before this ts that waits in a direct channel and may go, whatever its thread. */
  async latestWaitingMessage(
    workspace: string,
    channel: string,
    before: SlackTs,
  ): Promise<Message | undefined> {
    return this.#db
      .selectFrom('messages')
      .selectAll()
      .where('workspace', '=', workspace)
      .where('channel', '=', channel)
      .where('state', '=', 'waiting')
      .where('ts', '<', before)
      .where(maySend)
      .orderBy('ts', 'desc')
      .limit(1)
      .executeTakeFirst();
  }

  /** The unsettled turn at work in a direct channel, whatever its thread: the one that began last. */
  async latestRunningTurn(workspace: string, channel: string): Promise<Turn | undefined> {
    return this.#db
      .selectFrom('turns')
      .selectAll()
      .where('workspace', '=', workspace)
      .where('channel', '=', channel)
      .where('finished_at', 'is', null)
      .where('settled_at', 'is', null)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
  }

  /** The turn that a message of ours belongs to. */
  async turnOfPost(post: { workspace: string; channel: string; ts: SlackTs }): Promise<Turn | undefined> {
    return this.#db
      .selectFrom('posts')
      .innerJoin('turns', (join) =>
        join.onRef('turns.workspace', '=', 'posts.workspace').onRef('turns.id', '=', 'posts.turn'),
      )
      .selectAll('turns')
      .where('posts.workspace', '=', post.workspace)
      .where('posts.channel', '=', post.channel)
      .where('posts.ts', '=', post.ts)
      .executeTakeFirst();
  }

  async #update(
    turn: TurnId,
    values: Partial<
      Pick<
        Turn,
        'stop_asked_by' | 'stop_asked_at' | 'stop_ts' | 'stop_sent_at' | 'force_asked_at' | 'force_sent_at'
      >
    >,
  ): Promise<Turn> {
    return this.#db
      .updateTable('turns')
      .set(values)
      .where(isTurn(turn))
      .returningAll()
      .executeTakeFirstOrThrow();
  }
}
