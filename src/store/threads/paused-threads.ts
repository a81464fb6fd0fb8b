import { type Kysely, sql } from 'kysely';
import { hasTurn, inThread } from '../filters.ts';
import type { ThreadKey } from '../keys.ts';
import type { Message, SlackTs, Tables, Turn } from '../schema.ts';

/** Not a turn that only tries to pass its message on. */
const isNotForwarding = sql<boolean>`not (passed_on_by is not null and user_message_id is null and finished_at is null)`;

/** A thread whose waiting messages are held since one of its turns was stopped. All to be called under its lock. */
export class PausedThreads {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Holds what waits behind a turn; nothing happens where nothing waits, or where it is held already. */
  async pause(turn: Turn): Promise<void> {
    const other = await this.#waiting(turn).where('ts', '!=', turn.message_ts).limit(1).executeTakeFirst();
    if (other === undefined) return;
    await this.#update(turn)
      .set({ paused_by_turn_id: sql<string>`coalesce(paused_by_turn_id, ${turn.id})` })
      .execute();
  }

  /** The turn whose stop holds the thread; undefined where it is not held. */
  async pausedBy(thread: ThreadKey): Promise<string | undefined> {
    const row = await this.#db
      .selectFrom('threads')
      .select('paused_by_turn_id')
      .where(inThread(thread))
      .executeTakeFirst();
    return row?.paused_by_turn_id ?? undefined;
  }

  /** Ends the hold of this turn; false where the thread is not held by it. */
  async resume(thread: ThreadKey, turnId: string): Promise<boolean> {
    const row = await this.#update(thread)
      .set({ paused_by_turn_id: null })
      .where('paused_by_turn_id', '=', turnId)
      .returning('root')
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Ends the hold of this turn where nothing waits but the message `ts`; false where more does. */
  async resumeIfNothingElseWaits(thread: ThreadKey, turnId: string, ts: SlackTs): Promise<boolean> {
    const waiting = await this.waitingMessages(thread);
    return waiting.every((message) => message.ts === ts) && (await this.resume(thread, turnId));
  }

  /** What waits in the thread for a turn of its own, but for what a button sent again; what is being passed on waits, too. */
  async waitingMessages(thread: ThreadKey): Promise<Message[]> {
    return this.#waiting(thread)
      .where((where) => where.not(hasTurn(isNotForwarding)))
      .orderBy('ts')
      .execute();
  }

  #waiting(thread: ThreadKey) {
    return this.#db
      .selectFrom('messages')
      .selectAll()
      .where(inThread(thread))
      .where('state', '=', 'waiting')
      .where('resends', 'is', null);
  }

  #update(thread: ThreadKey) {
    return this.#db.updateTable('threads').where(inThread(thread));
  }
}
