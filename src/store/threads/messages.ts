import { type RawBuilder, sql } from 'kysely';
import { isHeldForBackfill } from '../jobs/backfill-hold.ts';
import { JOB_KIND, markWake } from '../jobs/jobs.ts';
import {
  fromNow,
  hasTurn,
  inThread,
  isReply,
  isTurn,
  isUnsent,
  isWaiting,
  maySend,
  ofMessage,
  Queries,
  sameThread,
  sentAs,
  toPostgresJson,
} from '../queries.ts';
import type { Message, MessageContent, MessageKey, SlackTs, Thread, ThreadKey, Turn } from '../schema.ts';
import { hasSent, hasSettled } from './turn-phase.ts';

/** A new message; of an unsent one, only the ids are kept. Its own ts is where Slack shows it, unless `said_ts` says otherwise. */
export type NewMessage = Pick<Message, 'thread_ts' | 'user_id' | 'state' | 'content' | 'edited_ts'> &
  Partial<Pick<Message, 'said_ts' | 'resends_turn_id' | 'revises_turn_id' | 'is_urgent'>>;

/** What a later version of a message changes. */
export interface MessageUpdate extends Pick<Message, 'edited_ts' | 'is_partial'> {
  content: MessageContent;
}

/** A message in Slack that the agent had, and whose words it shows; null: the agent's reply. */
export interface SaidMessage {
  ts: SlackTs;
  person: string | null;
  /** Whose words the same turn quoted. */
  quoted_ids: string[];
}

/** The next message of a thread, how many wait there with it, and whether they are held until they are looked for in Slack. */
export type WaitingMessage = Message & { waiting_count: number; is_held: boolean };

/** A turn's message, with what its writer wrote right after it while the agent worked: all of it goes as one. */
export interface WholeMessage extends Message {
  /** The message itself, and then the others, in their order. */
  parts: readonly [Message, ...Message[]];
}

/** People's messages for the agent: the inbox. */
export class Messages extends Queries {
  /** Adds a message once; false if this workspace, channel and ts is known. */
  async add({ workspace, channel, ts }: MessageKey, message: NewMessage): Promise<boolean> {
    const { thread_ts, user_id, state, content, edited_ts, resends_turn_id, revises_turn_id } = message;
    const { said_ts = ts, is_urgent = false } = message;
    return this.changes(sql`
      insert into messages (workspace, channel, ts, thread_ts, said_ts, user_id, state, content, edited_ts, resends_turn_id,
        revises_turn_id, is_urgent)
      values (${workspace}, ${channel}, ${ts}, ${thread_ts}, ${said_ts}, ${user_id}, ${state},
        ${content && toPostgresJson(content)}, ${edited_ts}, ${resends_turn_id ?? null}, ${revises_turn_id ?? null}, ${is_urgent})
      on conflict (workspace, channel, ts) do nothing`);
  }

  async get(key: MessageKey): Promise<Message | undefined> {
    return this.first(sql<Message>`select * from messages where ${ofMessage(key)}`);
  }

  /** Of the thread's waiting messages that may be sent, an urgent one or that with the lowest ts; or the first `before` a ts. */
  async nextWaiting(thread: ThreadKey, before?: SlackTs): Promise<WaitingMessage | undefined> {
    return this.first(sql<WaitingMessage>`
      select *, count(*) over ()::int as waiting_count, ${isHeldForBackfill(thread)} as is_held from messages
      where ${inThread(thread)} and ${isWaiting} and ${maySend} and (ts < ${before ?? null}) is not false
      order by is_urgent and ${before === undefined} desc, ts limit 1`);
  }

  /**
   * The message of a turn, and then those that go with it: which they are once it is frozen, and until then what waits up to
   * the last that waited as the turn began, or to the first of somebody else, or that a button made. Empty if the message is
   * gone.
   */
  async ofTurn(turn: Omit<Turn, 'prompt'>): Promise<Message[]> {
    const { workspace, channel, message_ts: ts } = turn;
    const rows = await this.rows(sql<Message>`
      with head as (select * from messages where ${ofMessage({ workspace, channel, ts })}),
        behind as (
          select messages.* from messages, head
          where (messages.workspace, messages.channel, messages.thread_ts) = (${workspace}, ${channel}, ${turn.thread_ts})
            and ${isWaiting} and ${maySend} and messages.ts > ${ts} and messages.is_urgent = head.is_urgent
            and head.state = 'waiting')
      select * from head
      union all
      select * from messages where workspace = ${workspace} and channel = ${channel} and sent_with_ts = ${ts}
      union all
      select * from behind where ts <= (
        select max(ts) from behind where received_at <= (select started_at from turns where ${isTurn(turn)}))
      order by ts`);
    const isWritten = (one: Message) => (one.resends_turn_id ?? one.revises_turn_id) === null;
    const end = rows.findIndex((one) => one.user_id !== rows[0]?.user_id || !isWritten(one));
    return end < 0 ? rows : rows.slice(0, Math.max(1, end));
  }

  /** Whether a message waits and has no turn. */
  async waitsForTurn(key: MessageKey): Promise<boolean> {
    return this.exists(
      sql`select from messages where ${ofMessage(key)} and ${isWaiting} and not ${hasTurn()}`,
    );
  }

  /** Asks for the mark on a thread's messages that wait without a turn, for `most` in the workspace. Whether one was asked for. */
  async wantWaitingReactions(thread: ThreadKey, most: number): Promise<boolean> {
    const isMark = sql`jobs.workspace = ${thread.workspace} and jobs.kind = ${JOB_KIND.waitingReaction}`;
    return this.changes(sql`
      insert into jobs (workspace, kind, channel, thread_ts, key, person, payload, due_at)
      select workspace, ${JOB_KIND.waitingReaction}, channel, thread_ts, ts::text, '', '{}', ${fromNow(0)} from messages
      where ${inThread(thread)} and ${isWaiting} and not ${hasTurn()} and not exists (
        select from jobs where ${isMark} and ${sameThread('jobs', 'messages')} and jobs.key = messages.ts::text)
      order by ts limit greatest(0, ${most} - (select count(*) from jobs where ${isMark}))
      on conflict do nothing`);
  }

  /** A turn's message, with those that go with it, was not sent: they wait again, or are closed. False if it was withdrawn. */
  async leaveUnsent(key: MessageKey, state: 'waiting' | 'closed'): Promise<boolean> {
    const sentWith = state === 'waiting' ? sql`null` : sql`sent_with_ts`;
    return this.changes(sql`
      update messages set state = ${state}, sent_with_ts = ${sentWith} where ${sentAs(key)} and ${isUnsent}`);
  }

  /** Records that these messages go with another one. */
  async join(key: MessageKey, others: readonly SlackTs[]): Promise<void> {
    if (others.length === 0) return;
    const { workspace, channel, ts } = key;
    await this.changes(sql`
      with unmarked as (${markWake(key, others)}) update messages set sent_with_ts = ${ts}
      where workspace = ${workspace} and channel = ${channel} and ts = any(${[...others]}::numeric[])`);
  }

  /** Withdraws a message that waits, or that was closed and could be sent again; false if it is another. */
  async withdraw(key: MessageKey): Promise<boolean> {
    const isAtRest = sql`state in ('waiting', 'closed')`;
    return this.#end(key, sql`state = 'withdrawn', content = null`, isAtRest);
  }

  /** Withdraws what waits to send a message again, or its correction. */
  async withdrawRepeats({ ts, ...thread }: MessageKey & ThreadKey): Promise<void> {
    await this.changes(sql`
      update messages set state = 'withdrawn', content = null
      where ${inThread(thread)} and said_ts = ${ts} and ts <> said_ts and ${isWaiting}`);
  }

  /** Refuses a waiting message, or leaves it for people, and erases its content; false if it no longer waits. */
  async refuse(key: MessageKey, state: 'refused' | 'unsent'): Promise<boolean> {
    return this.#end(key, sql`state = ${state}, content = null, version = version + 1`, isWaiting);
  }

  /** Deletes a message that turned out not to be for us, so that a later copy is not taken for a duplicate. */
  async remove(key: MessageKey): Promise<void> {
    await this.changes(sql`with unmarked as (${markWake(key)}) delete from messages where ${ofMessage(key)}`);
  }

  /** Sends an unsent message after all: it waits, and its text is read back from Slack. False if it was sent before. */
  async sendAfterAll(key: MessageKey & { thread_ts: SlackTs }, person: string): Promise<boolean> {
    return this.changes(sql`
      update messages set state = 'waiting'
      where ${ofMessage(key)} and state = 'unsent' and thread_ts = ${key.thread_ts} and user_id = ${person}`);
  }

  /** The messages that other sent ones of the thread are about, of up to 20: null for one that is about none. */
  async aboutsOfSent({ workspace, channel, thread_ts, ts }: Message): Promise<(SlackTs | null)[]> {
    const rows = await this.rows(sql<{ about: SlackTs | null }>`
      select content -> 'about' ->> 'ts' as about from messages
      where ${inThread({ workspace, channel, thread_ts })} and (${isReply} or ts = ${thread_ts})
        and state = 'sent' and ts <> ${ts} limit 20`);
    return rows.map(({ about }) => about);
  }

  /** Who wrote the messages that a task has, those that repeat others aside; '' for an erased person. */
  async writersTo(thread: ThreadKey, taskId: string): Promise<string[]> {
    const rows = await this.rows(sql<{ user_id: string }>`
      select distinct user_id from messages where ${inThread(thread)} and resends_turn_id is null and ts in (
        select message_ts from turns where ${inThread(thread)} and task_id = ${taskId} and ${hasSent})`);
    return rows.map(({ user_id }) => user_id);
  }

  /** The unsent messages of a thread before a message, unless another one has quoted them, oldest first. */
  async unsentBefore({ workspace, channel, thread_ts, ts }: Message) {
    if (ts === thread_ts) return [];
    return this.rows(sql<Pick<Message, 'ts' | 'user_id'>>`
      select ts, user_id from messages
      where ${inThread({ workspace, channel, thread_ts })} and state = 'unsent' and ts < ${ts} and ${isReply}
        and coalesce(quoted_with_ts, ${ts}) = ${ts} order by ts`);
  }

  /** Records that a message quotes these unsent ones. */
  async markQuoted({ workspace, channel, ts }: MessageKey, quoted: readonly SlackTs[]): Promise<void> {
    if (quoted.length === 0) return;
    await this.changes(sql`
      update messages set quoted_with_ts = ${ts}
      where workspace = ${workspace} and channel = ${channel} and ts = any(${[...quoted]}::numeric[])`);
  }

  /**
   * What was said in the thread's former tasks, if `taskId` has no message yet: the messages that were sent, and the
   * replies to them. Nothing of a turn that sent words of an erased person, its own or quoted ones (whose prompt is gone).
   */
  async saidInFormerTasks(thread: Thread, taskId: string): Promise<SaidMessage[]> {
    const { workspace, channel, quotable_task_ids: former } = thread;
    if (former.length === 0) return [];
    const message = sql`messages.ts, messages.user_id, messages.resends_turn_id, messages.revises_turn_id`;
    const ofTheirTurn = sql`
      join messages on messages.workspace = ${workspace} and messages.channel = ${channel}
        and (messages.ts = sent.message_ts or messages.sent_with_ts = sent.message_ts)`;
    return this.rows(sql<SaidMessage>`
      with recursive sent as (
        select * from turns where ${inThread(thread)}
      ), words as (
        select sent.id, sent.quoted_ids, ${message}, true as is_verbatim from sent ${ofTheirTurn}
        where sent.${hasSent} and sent.task_id = any(${former}::text[])
          and not (sent.prompt is null and sent.has_text)
          and not exists (select from sent where task_id = ${taskId} and ${hasSent})
        union all
        select words.id, words.quoted_ids, ${message}, words.is_verbatim and words.resends_turn_id is not null from words
        join sent on sent.id in (words.resends_turn_id, words.revises_turn_id) ${ofTheirTurn}
      ), kept as (
        select * from words where not exists (
          select from words as erased where erased.id = words.id and erased.user_id = '')
      )
      select ts, user_id as person, quoted_ids from kept where is_verbatim
      union
      select posts.ts, null, kept.quoted_ids from posts join kept on kept.id = posts.turn_id
      where posts.workspace = ${workspace} and posts.part like 'reply:%' and posts.state = 'posted'`);
  }

  /** Whether an earlier message of the same person waits in the thread, too. */
  async hasEarlierWaiting(thread: ThreadKey, person: string, ts: SlackTs): Promise<boolean> {
    return this.exists(sql`
      select from messages where ${inThread(thread)} and ${isWaiting} and user_id = ${person} and ts < ${ts} limit 1`);
  }

  /** Asks to pass what the writer of a message has waiting in its thread on to the run at work; returns these messages. */
  async makeUrgent({ workspace, channel, thread_ts, user_id }: Message): Promise<MessageKey[]> {
    return this.rows(sql<MessageKey>`
      update messages set is_urgent = true
      where ${inThread({ workspace, channel, thread_ts })} and ${isWaiting} and user_id = ${user_id}
      returning workspace, channel, ts`);
  }

  /** The urgent messages that wait, in all workspaces. */
  async urgent(): Promise<Message[]> {
    return this.rows(sql<Message>`select * from messages where is_urgent and ${isWaiting}`);
  }

  /** The messages of a thread that wait are no longer urgent. */
  async endUrgency(thread: ThreadKey): Promise<void> {
    await this.changes(sql`
      update messages set is_urgent = false where ${inThread(thread)} and is_urgent and ${isWaiting}`);
  }

  /** Updates a waiting message; false if it has changed since it was read, or no longer waits. */
  async updateContent(read: Message, change: MessageUpdate): Promise<boolean> {
    const { content, edited_ts, is_partial } = change;
    const values = sql`content = ${toPostgresJson(content)}, edited_ts = ${edited_ts}, is_partial = ${is_partial},
      version = version + 1`;
    const ofRoot = sql`${inThread(read)} and thread_ts = ${read.ts}`;
    return this.exists(sql`
      with changed as (
        update messages set ${values} where ${ofMessage(read)} and ${isWaiting} and version = ${read.version}
        returning content
      ), root as (
        update threads set root_file_ids = file_ids_in(changed.content) from changed where ${ofRoot}
      )
      select from changed`);
  }

  /** The last message before this ts that waits in a direct channel and may be sent, in any thread. */
  async latestWaiting(workspace: string, channel: string, before: SlackTs): Promise<Message | undefined> {
    return this.first(sql<Message>`
      select * from messages
      where workspace = ${workspace} and channel = ${channel} and ts < ${before} and ${isWaiting} and ${maySend}
      order by ts desc limit 1`);
  }

  /** Whether people wrote to the agent after a turn's message, apart from what its run was given until it settled. */
  async hasLater(turn: Turn): Promise<boolean> {
    const isGiven = hasTurn(sql`${hasSettled(turn)} and turns.passed_on_by_turn_id = ${turn.id}`);
    return this.exists(sql`
      select ts from messages where ${inThread(turn)} and ${isReply} and ts > ${turn.message_ts}
        and state in ('waiting', 'sending', 'sent') and sent_with_ts is distinct from ${turn.message_ts}
        and not ${isGiven} limit 1`);
  }

  /** A message no longer waits: its mark goes. */
  async #end(key: MessageKey, change: RawBuilder<unknown>, condition: RawBuilder<unknown>) {
    return this.changes(sql`
      with unmarked as (${markWake(key)}) update messages set ${change} where ${ofMessage(key)} and ${condition}`);
  }
}
