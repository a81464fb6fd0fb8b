import { CompiledQuery, type Kysely } from 'kysely';
import type { PreparedQuery } from '../database.ts';
import { type ThreadKey, threadKeyText } from '../keys.ts';
import { toPostgresJson } from '../postgres-json.ts';
import type { MessageContent, SlackTs, Tables } from '../schema.ts';
import type { EarlyEdit } from './early-edits.ts';

/** A message that arrived. */
export interface InboxMessage extends ThreadKey {
  ts: SlackTs;
  user_id: string;
  content: MessageContent;
  editedTs: SlackTs | null;
  /** The service account of a thread that starts with it. */
  account_id: string;
  /** It is for us even if its thread is not ours. */
  is_addressed: boolean;
  /** The early edit that `content` already contains. */
  appliedEdit: EarlyEdit | undefined;
}

/** What became of a message. */
export interface InboxDecision {
  /** `changed`: nothing was written, because an early edit has not been applied. */
  decision: 'changed' | 'stray' | 'known' | 'withdrawn' | 'waits' | 'next';
  /** It waits in a paused thread. */
  is_paused: boolean;
}

const RECORD_MESSAGE = {
  name: 'record_message',
  text: 'select 0 as place, decision, is_paused from record_message($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
};
const RECORD_MESSAGES = {
  name: 'record_messages',
  text: 'select place, decision, is_paused from record_messages($1)',
};
/** Messages that one statement takes at most. */
const MAX_BATCH_SIZE = 100;

interface PendingWrite {
  message: InboxMessage;
  decided: PromiseWithResolvers<InboxDecision>;
}

/** Writes arriving messages. */
export class InboxWriter {
  readonly #query: PreparedQuery;
  /** What arrives in a thread while a statement about that thread is under way, by thread. */
  readonly #pending = new Map<string, PendingWrite[]>();

  /** Without `prepared` the statement is planned anew each time. */
  constructor(db: Kysely<Tables>, prepared?: PreparedQuery) {
    this.#query = prepared ?? unpreparedQuery(db);
  }

  /**
   * Decides about a message and writes it with its thread (the SQL function `record_message` of the baseline). Each
   * thread has one statement under way at a time, and what arrives meanwhile shares the next one: a locked thread
   * keeps one connection busy and no other thread waiting.
   */
  async write(message: InboxMessage): Promise<InboxDecision> {
    const decided = Promise.withResolvers<InboxDecision>();
    const key = threadKeyText(message);
    const pending = this.#pending.get(key);
    if (pending === undefined) void this.#drain(key, [{ message, decided }]);
    else pending.push({ message, decided });
    return decided.promise;
  }

  async #drain(key: string, pending: PendingWrite[]): Promise<void> {
    this.#pending.set(key, pending);
    while (pending.length > 0) await this.#writeBatch(pending.splice(0, MAX_BATCH_SIZE));
    this.#pending.delete(key);
  }

  async #writeBatch(batch: readonly PendingWrite[]): Promise<void> {
    try {
      const decisions = await this.#decide(batch.map(({ message }) => message));
      batch.forEach(({ decided }, index) => {
        const decision = decisions[index];
        if (decision === undefined) decided.reject(new Error('record_messages returned no decision.'));
        else decided.resolve(decision);
      });
    } catch (error) {
      // Nothing of the batch was written; one bad message must not keep the others out.
      if (batch.length > 1) await Promise.all(batch.map((one) => this.#writeBatch([one])));
      else for (const { decided } of batch) decided.reject(error);
    }
  }

  async #decide(messages: readonly InboxMessage[]): Promise<InboxDecision[]> {
    const [first] = messages;
    if (first === undefined) return [];
    const rows = await (messages.length === 1
      ? this.#query<InboxDecision & { place: number }>(RECORD_MESSAGE, parametersOf(first))
      : this.#query<InboxDecision & { place: number }>(RECORD_MESSAGES, [
          toPostgresJson(messages.map(rowOf)),
        ]));
    const decisions: InboxDecision[] = [];
    for (const { place, ...decision } of rows) decisions[place] = decision;
    return decisions;
  }
}

/** In the order of the function's parameters. */
function parametersOf(message: InboxMessage): unknown[] {
  const {
    workspace,
    channel,
    thread_ts,
    ts,
    user_id,
    account_id,
    content,
    editedTs,
    is_addressed,
    appliedEdit,
  } = message;
  return [
    workspace,
    channel,
    thread_ts,
    ts,
    user_id,
    account_id,
    toPostgresJson(content),
    editedTs,
    is_addressed,
    appliedEdit?.is_deletion ?? null,
    appliedEdit?.edited_ts ?? null,
  ];
}

/** An element of the function's JSON array. */
function rowOf({ appliedEdit, editedTs, is_addressed, ...rest }: InboxMessage, place: number) {
  return {
    ...rest,
    place,
    edited_ts: editedTs,
    is_addressed,
    applied_is_deletion: appliedEdit?.is_deletion,
    applied_edited_ts: appliedEdit?.edited_ts,
  };
}

function unpreparedQuery(db: Kysely<Tables>): PreparedQuery {
  return async <Row extends object>({ text }: { text: string }, values: unknown[]) =>
    (await db.executeQuery<Row>(CompiledQuery.raw(text, values))).rows;
}
