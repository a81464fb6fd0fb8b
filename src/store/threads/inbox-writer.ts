import { sql } from 'kysely';
import { StoreError } from '../errors.ts';
import { type ThreadKey, threadKeyText } from '../keys.ts';
import { Queries, toPostgresJson } from '../queries.ts';
import type { Message, MessageContent } from '../schema.ts';
import type { EarlyEdit } from './early-arrivals.ts';

/** A message that arrived. */
export interface InboxMessage extends Pick<Message, keyof ThreadKey | 'ts' | 'user_id' | 'edited_ts'> {
  /** Of an unsent message, only the ids are kept. */
  content: MessageContent;
  /** What it becomes; null: its thread was not ours when the caller looked. */
  state: 'waiting' | 'unsent' | null;
  /** The service account of a thread that starts with it. */
  account_id: string;
  /** It is for us even if its thread is not ours. */
  is_addressed: boolean;
  /** The early edit that `content` already contains. */
  appliedEdit: EarlyEdit | undefined;
}

/** What became of a message. */
export interface InboxDecision {
  /** `changed`: nothing was written, because an early edit has not been applied or the thread has become ours. */
  decision: 'changed' | 'stray' | 'unsent' | 'known' | 'withdrawn' | 'waits' | 'next';
  /** It waits in a paused thread. */
  is_paused: boolean;
}

/** Messages that one statement takes at most. */
const MAX_BATCH_SIZE = 100;

interface PendingWrite {
  message: InboxMessage;
  decided: PromiseWithResolvers<InboxDecision>;
}

/** Writes arriving messages. */
export class InboxWriter extends Queries {
  /** What arrives in a thread while a statement about that thread is under way, by thread. */
  readonly #pending = new Map<string, PendingWrite[]>();

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
    while (pending.length > 0) await this.#writeBatch(pending.splice(0, MAX_BATCH_SIZE), pending);
    this.#pending.delete(key);
  }

  /** Writes a batch. Without the database those that came later fail, too: none must overtake an earlier one. */
  async #writeBatch(batch: readonly PendingWrite[], later: PendingWrite[]): Promise<void> {
    try {
      const rows = toPostgresJson(batch.map(({ message }, place) => rowOf(message, place)));
      const decisions = await this.rows(
        sql<InboxDecision>`select decision, is_paused from record_messages(${rows}) order by place`,
      );
      batch.forEach(({ decided }, index) => {
        const decision = decisions[index];
        if (decision === undefined) decided.reject(new Error('record_messages returned no decision.'));
        else decided.resolve(decision);
      });
    } catch (error) {
      // Nothing of the batch was written; one bad message must not keep the others out.
      const isOutage = error instanceof StoreError;
      if (batch.length > 1 && !isOutage)
        await Promise.all(batch.map((one) => this.#writeBatch([one], later)));
      else for (const { decided } of [...batch, ...(isOutage ? later.splice(0) : [])]) decided.reject(error);
    }
  }
}

/** An element of the function's JSON array. */
function rowOf({ appliedEdit, ...rest }: InboxMessage, place: number) {
  return {
    ...rest,
    place,
    applied_is_deletion: appliedEdit?.is_deletion,
    applied_edited_ts: appliedEdit?.edited_ts,
  };
}
