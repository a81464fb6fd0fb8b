import { type Kysely, sql } from 'kysely';
import { hasTurn, inThread, maySend, ofMessage } from '../filters.ts';
import type { MessageKey, ThreadKey } from '../keys.ts';
import { toPostgresJson } from '../postgres-json.ts';
import type { Message, MessageContent, MessageState, SlackTs, Tables } from '../schema.ts';

/** A message as it is written down. */
export interface NewMessage {
  root: SlackTs;
  person: string;
  state: MessageState;
  words: MessageContent;
  editedTs: SlackTs | null;
  /** The turn whose words and files it sends again. */
  resends?: string;
  /** The turn whose question it asks again, with other words or choices, or corrects. */
  asksAgain?: string;
}

/** A change that arrived before its message: obeyed when the message comes. */
export interface EarlyEdit {
  deleted: boolean;
  words: MessageContent | null;
  edited_ts: SlackTs | null;
}

/** People's messages for the agent: the inbox. */
export class Messages {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Writes a message down once; false where this workspace, channel and ts is known already. */
  async add(key: MessageKey, message: NewMessage): Promise<boolean> {
    const row = await this.#db
      .insertInto('messages')
      .values({
        ...key,
        root: message.root,
        person: message.person,
        state: message.state,
        words: toPostgresJson(message.words),
        edited_ts: message.editedTs,
        resends: message.resends ?? null,
        asks_again: message.asksAgain ?? null,
      })
      .onConflict((conflict) => conflict.columns(['workspace', 'channel', 'ts']).doNothing())
      .returning('ts')
      .executeTakeFirst();
    return row !== undefined;
  }

  async get(key: MessageKey): Promise<Message | undefined> {
    return this.#db.selectFrom('messages').selectAll().where(ofMessage(key)).executeTakeFirst();
  }

  /** The thread's waiting message with the lowest ts that may go. */
  async nextWaiting(thread: ThreadKey): Promise<Message | undefined> {
    return this.#db
      .selectFrom('messages')
      .selectAll()
      .where(inThread(thread))
      .where('state', '=', 'waiting')
      .where(maySend)
      .orderBy('ts')
      .limit(1)
      .executeTakeFirst();
  }

  /** The first `most` of the thread's waiting messages that carry no mark, but for the one whose turn has begun. */
  async withoutWaitingReaction(thread: ThreadKey, limit: number): Promise<MessageKey[]> {
    return this.#db
      .selectFrom('messages')
      .select(['messages.workspace', 'messages.channel', 'messages.ts'])
      .where(inThread(thread))
      .where('messages.state', '=', 'waiting')
      .where('messages.marked', '=', false)
      .where((where) => where.not(hasTurn()))
      .orderBy('messages.ts')
      .limit(limit)
      .execute();
  }

  /** Marked messages that do not wait any more: their turn has begun, or they were taken back. */
  async withStaleWaitingReaction(limit: number): Promise<MessageKey[]> {
    return this.#db
      .selectFrom('messages')
      .select(['messages.workspace', 'messages.channel', 'messages.ts'])
      .where('messages.marked', '=', true)
      .where((where) => where.or([where('messages.state', '!=', 'waiting'), hasTurn()]))
      .orderBy('messages.ts')
      .limit(limit)
      .execute();
  }

  /** How many messages of a workspace carry a mark. */
  async countWaitingReactions(workspace: string): Promise<number> {
    const row = await this.#db
      .selectFrom('messages')
      .select(sql<number>`count(*)::int`.as('count'))
      .where('workspace', '=', workspace)
      .where('marked', '=', true)
      .executeTakeFirstOrThrow();
    return row.count;
  }

  /** Freezes a waiting message; undefined where it was withdrawn or frozen already. */
  async freeze(key: MessageKey): Promise<Message | undefined> {
    return this.#update(key)
      .set({ state: 'sending' })
      .where('state', '=', 'waiting')
      .returningAll()
      .executeTakeFirst();
  }

  /** A frozen message is at the service. */
  async markSent(key: MessageKey): Promise<void> {
    await this.#update(key).set({ state: 'sent' }).execute();
  }

  /** A message was not sent: it waits again, or never goes. False where it had been taken back. */
  async putBack(key: MessageKey, state: 'waiting' | 'closed'): Promise<boolean> {
    const row = await this.#update(key)
      .set({ state })
      .where('state', 'in', ['waiting', 'sending'])
      .returning('ts')
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Notes whether the message carries our waiting mark. */
  async setWaitingReaction(key: MessageKey, marked: boolean): Promise<void> {
    await this.#update(key).set({ marked }).execute();
  }

  /** Takes a waiting message back; false where it is not waiting any more. */
  async withdraw(key: MessageKey): Promise<boolean> {
    const row = await this.#update(key)
      .set({ state: 'withdrawn', words: null })
      .where('state', '=', 'waiting')
      .returning('ts')
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Refuses a waiting message, and forgets its words; false where it is not waiting any more. */
  async refuse(key: MessageKey): Promise<boolean> {
    const row = await this.#update(key)
      .set({ state: 'refused', words: null })
      .where('state', '=', 'waiting')
      .returning('ts')
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Whether a message of a person was refused in a channel before. */
  async wasRefused(
    { workspace, channel }: Pick<MessageKey, 'workspace' | 'channel'>,
    person: string,
  ): Promise<boolean> {
    const row = await this.#db
      .selectFrom('messages')
      .select('ts')
      .where('workspace', '=', workspace)
      .where('channel', '=', channel)
      .where('person', '=', person)
      .where('state', '=', 'refused')
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Takes a message out that turned out to be none for us; its row must not stand in the way of a later copy. */
  async remove(key: MessageKey): Promise<void> {
    await this.#db.deleteFrom('messages').where(ofMessage(key)).execute();
  }

  /** Gives a waiting message its edited words, unless a later edit came first; false where it is not waiting. */
  async updateContent(key: MessageKey, words: MessageContent, editedTs: SlackTs): Promise<boolean> {
    const row = await this.#update(key)
      .set({ words: toPostgresJson(words), edited_ts: editedTs })
      .where('state', '=', 'waiting')
      .where((where) => where.or([where('edited_ts', 'is', null), where('edited_ts', '<', editedTs)]))
      .returning('ts')
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Leaves a mark for a message that has not arrived: a deletion wins, else the latest edit. */
  async recordEarlyEdit(key: MessageKey, change: EarlyEdit): Promise<void> {
    await this.#db
      .insertInto('early_changes')
      .values({
        ...key,
        deleted: change.deleted,
        words: change.words === null ? null : toPostgresJson(change.words),
        edited_ts: change.edited_ts,
      })
      .onConflict((conflict) =>
        conflict
          .columns(['workspace', 'channel', 'ts'])
          .doUpdateSet((eb) => ({
            deleted: sql<boolean>`early_changes.deleted or excluded.deleted`,
            words: eb.ref('excluded.words'),
            edited_ts: eb.ref('excluded.edited_ts'),
            // What is delivered again is no other change.
            taken_by: sql<SlackTs | null>`case when excluded.edited_ts = early_changes.edited_ts
              then early_changes.taken_by end`,
          }))
          // An edit that comes late says nothing new.
          .where(sql<boolean>`(excluded.edited_ts < early_changes.edited_ts) is not true`),
      )
      .execute();
  }

  /** Takes the noted words of a message for another one, `by`, that says them; undefined where that was done before. */
  async claimEarlyEdit(key: MessageKey, by: SlackTs): Promise<EarlyEdit | undefined> {
    return this.#db
      .updateTable('early_changes')
      .set({ taken_by: by })
      .where(ofMessage(key))
      .where('taken_by', 'is', null)
      .returning(['deleted', 'words', 'edited_ts'])
      .executeTakeFirst();
  }

  /** A message that says a change does not go: the change may be taken again. */
  async releaseEarlyEdit({ workspace, channel, ts }: MessageKey): Promise<void> {
    await this.#db
      .updateTable('early_changes')
      .set({ taken_by: null })
      .where('workspace', '=', workspace)
      .where('channel', '=', channel)
      .where('taken_by', '=', ts)
      .execute();
  }

  /** The change that arrived before its message, if any. */
  async earlyEdit(key: MessageKey): Promise<EarlyEdit | undefined> {
    return this.#db
      .selectFrom('early_changes')
      .select(['deleted', 'words', 'edited_ts'])
      .where(ofMessage(key))
      .executeTakeFirst();
  }

  /**
   * Threads that have an open turn or a waiting message that may go, where the app is installed: each must have a job.
   * In the order of their keys, behind `after`.
   */
  async threadsWithWork(limit: number, after?: ThreadKey): Promise<ThreadKey[]> {
    const waiting = this.#db
      .selectFrom('messages')
      .select(['workspace', 'channel', 'root'])
      .where('state', 'in', ['waiting', 'sending'])
      .where(maySend);
    const open = this.#db
      .selectFrom('turns')
      .select(['workspace', 'channel', 'root'])
      .where('finished_at', 'is', null);
    return this.#db
      .selectFrom(waiting.union(open).as('busy'))
      .selectAll()
      .where((where) =>
        where.not(
          where.exists(
            where
              .selectFrom('workspaces')
              .whereRef('workspaces.workspace', '=', 'busy.workspace')
              .where('left_at', 'is not', null),
          ),
        ),
      )
      .$if(after !== undefined, (threads) =>
        threads.where(
          sql<boolean>`(workspace, channel, root) > (${after?.workspace}, ${after?.channel}, ${after?.root})`,
        ),
      )
      .orderBy('workspace')
      .orderBy('channel')
      .orderBy('root')
      .limit(limit)
      .execute();
  }

  #update(key: MessageKey) {
    return this.#db.updateTable('messages').where(ofMessage(key));
  }
}
