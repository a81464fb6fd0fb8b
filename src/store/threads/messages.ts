import { sql } from 'kysely';
import { hasTurn, inThread, isUnsent, isWaiting, maySend, ofMessage } from '../filters.ts';
import type { MessageKey, ThreadKey } from '../keys.ts';
import { toPostgresJson } from '../postgres-json.ts';
import { changesRow, Queries } from '../queries.ts';
import type { Message, MessageContent, MessageState, SlackTs, Turn } from '../schema.ts';

const hasWaitingReaction = sql<boolean>`messages.has_waiting_reaction`;

/** A new message. */
export interface NewMessage {
  thread_ts: SlackTs;
  user_id: string;
  state: MessageState;
  /** Null: of an unsent message, only the ids are kept. */
  content: MessageContent | null;
  editedTs: SlackTs | null;
  /** The turn whose content and files it sends again. */
  resends_turn_id?: string;
  /** The turn whose question it asks again with other content or choices, or corrects. */
  revises_turn_id?: string;
}

/** The next message of a thread, and how many wait there with it. */
export type WaitingMessage = Message & { waiting_count: number };

/** People's messages for the agent: the inbox. */
export class Messages extends Queries {
  /** Adds a message once; false if this workspace, channel and ts is known. */
  async add(key: MessageKey, { content, editedTs, ...message }: NewMessage): Promise<boolean> {
    return changesRow(
      this.db
        .insertInto('messages')
        .values({ ...key, ...message, content: content && toPostgresJson(content), edited_ts: editedTs })
        .onConflict((conflict) => conflict.columns(['workspace', 'channel', 'ts']).doNothing()),
    );
  }

  async get(key: MessageKey): Promise<Message | undefined> {
    return this.db.selectFrom('messages').selectAll().where(ofMessage(key)).executeTakeFirst();
  }

  /** The thread's waiting message with the lowest ts that may be sent, and how many there are. */
  async nextWaiting(thread: ThreadKey): Promise<WaitingMessage | undefined> {
    return this.db
      .selectFrom('messages')
      .selectAll()
      .select(sql<number>`count(*) over ()::int`.as('waiting_count'))
      .where(inThread(thread))
      .where(isWaiting)
      .where(maySend)
      .orderBy('ts')
      .limit(1)
      .executeTakeFirst();
  }

  /** The thread's waiting messages without a turn and without the waiting reaction. */
  async withoutWaitingReaction(thread: ThreadKey, limit: number): Promise<MessageKey[]> {
    return this.db
      .selectFrom('messages')
      .select(['messages.workspace', 'messages.channel', 'messages.ts'])
      .where(inThread(thread))
      .where(isWaiting)
      .where('messages.has_waiting_reaction', '=', false)
      .where((where) => where.not(hasTurn()))
      .orderBy('messages.ts')
      .limit(limit)
      .execute();
  }

  /** Messages with the waiting reaction that no longer wait: their turn has started, or they were withdrawn. */
  async withStaleWaitingReaction(limit: number): Promise<MessageKey[]> {
    return this.db
      .selectFrom('messages')
      .select(['messages.workspace', 'messages.channel', 'messages.ts'])
      .where(hasWaitingReaction)
      .where((where) => where.or([where.not(isWaiting), hasTurn()]))
      .orderBy('messages.ts')
      .limit(limit)
      .execute();
  }

  /** How many messages of a workspace have the waiting reaction. */
  async countWaitingReactions(workspace: string): Promise<number> {
    const row = await this.db
      .selectFrom('messages')
      .select(sql<number>`count(*)::int`.as('count'))
      .where('workspace', '=', workspace)
      .where(hasWaitingReaction)
      .executeTakeFirstOrThrow();
    return row.count;
  }

  /** A message was not sent: it waits again, or is closed. False if it was withdrawn. */
  async putBack(key: MessageKey, state: 'waiting' | 'closed'): Promise<boolean> {
    return changesRow(this.#update(key).set({ state }).where(isUnsent));
  }

  /** Records whether the message has our waiting reaction. */
  async setWaitingReaction(key: MessageKey, marked: boolean): Promise<void> {
    await this.#update(key).set({ has_waiting_reaction: marked }).execute();
  }

  /** Withdraws a waiting message; false if it no longer waits. */
  async withdraw(key: MessageKey): Promise<boolean> {
    return changesRow(this.#update(key).set({ state: 'withdrawn', content: null }).where(isWaiting));
  }

  /** Refuses a waiting message and erases its content; false if it no longer waits. */
  async refuse(key: MessageKey): Promise<boolean> {
    return changesRow(this.#update(key).set({ state: 'refused', content: null }).where(isWaiting));
  }

  /** Deletes a message that turned out not to be for us, so that a later copy is not taken for a duplicate. */
  async remove(key: MessageKey): Promise<void> {
    await this.db.deleteFrom('messages').where(ofMessage(key)).execute();
  }

  /** Sends an unsent message after all: it waits, and its text is read back from Slack. False if it was sent before. */
  async sendAfterAll(key: MessageKey & { thread_ts: SlackTs }, person: string): Promise<boolean> {
    return changesRow(
      this.#update(key)
        .set({ state: 'waiting' })
        .where((row) => row.and({ state: 'unsent', thread_ts: key.thread_ts, user_id: person })),
    );
  }

  /** The unsent messages of a thread before a message that no other message has quoted, oldest first. */
  async unquoted({ workspace, channel, thread_ts, ts }: Message): Promise<SlackTs[]> {
    const rows = await this.db
      .selectFrom('messages')
      .select('ts')
      .where(inThread({ workspace, channel, thread_ts }))
      .where('state', '=', 'unsent')
      .where('ts', '<', ts)
      .where(sql<boolean>`thread_ts <> ts and coalesce(quoted_with_ts, ${ts}) = ${ts}`)
      .orderBy('ts')
      .execute();
    return rows.map((row) => row.ts);
  }

  /** Records that a message quotes these unsent ones. */
  async markQuoted({ workspace, channel, ts }: MessageKey, quoted: readonly SlackTs[]): Promise<void> {
    if (quoted.length === 0) return;
    await this.db
      .updateTable('messages')
      .set({ quoted_with_ts: ts })
      .where((row) => row.and({ workspace, channel }))
      .where('ts', 'in', quoted)
      .execute();
  }

  /** Asks to pass a waiting message on to the run at work; false if it no longer waits. */
  async makeUrgent(key: MessageKey): Promise<boolean> {
    return changesRow(this.#update(key).set({ is_urgent: true }).where('state', '=', 'waiting'));
  }

  /** The urgent messages that wait, in all workspaces. */
  async urgent(): Promise<Message[]> {
    return this.db
      .selectFrom('messages')
      .selectAll()
      .where('is_urgent', '=', true)
      .where('state', '=', 'waiting')
      .execute();
  }

  /** Updates a waiting message, unless a later edit came first; false if it no longer waits. */
  async updateContent(key: MessageKey, content: MessageContent, editedTs: SlackTs): Promise<boolean> {
    return changesRow(
      this.#update(key)
        .set({ content: toPostgresJson(content), edited_ts: editedTs })
        .where(isWaiting)
        .where((where) => where.or([where('edited_ts', 'is', null), where('edited_ts', '<', editedTs)])),
    );
  }

  /** The last message before this ts that waits in a direct channel and may be sent, in any thread. */
  async latestWaiting(workspace: string, channel: string, before: SlackTs): Promise<Message | undefined> {
    return this.db
      .selectFrom('messages')
      .selectAll()
      .where((row) => row.and({ workspace, channel }))
      .where(isWaiting)
      .where('ts', '<', before)
      .where(maySend)
      .orderBy('ts', 'desc')
      .limit(1)
      .executeTakeFirst();
  }

  /** Whether people wrote to the agent after a turn's message, apart from what its run was given until it settled. */
  async hasLater(turn: Turn): Promise<boolean> {
    const isPart = turn.settled_at !== null;
    const row = await this.db
      .selectFrom('messages')
      .select('ts')
      .where(inThread(turn))
      .where('ts', '>', turn.message_ts)
      .where('state', 'in', ['waiting', 'sending', 'sent'])
      .where((where) => where.not(hasTurn(sql<boolean>`${isPart} and turns.forwarded_by_turn_id = ${turn.id}`)))
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  #update(key: MessageKey) {
    return this.db.updateTable('messages').where(ofMessage(key));
  }
}
