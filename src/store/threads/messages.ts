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

  /** The last message before this ts that waits in a direct channel and may be sent, in any thread. */
  async latestWaiting(workspace: string, channel: string, before: SlackTs): Promise<Message | undefined> {
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

  #update(key: MessageKey) {
    return this.#db.updateTable('messages').where(ofMessage(key));
  }
}
