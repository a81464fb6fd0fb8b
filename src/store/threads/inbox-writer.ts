import { CompiledQuery, type Kysely } from 'kysely';
import type { PreparedQuery } from '../database.ts';
import type { ThreadKey } from '../keys.ts';
import { toPostgresJson } from '../postgres-json.ts';
import type { MessageContent, SlackTs, Tables } from '../schema.ts';
import type { EarlyEdit } from './messages.ts';

/** A message that arrived, and what is known of it. */
export interface InboxMessage extends ThreadKey {
  ts: SlackTs;
  person: string;
  words: MessageContent;
  editedTs: SlackTs | null;
  /** The service account of a thread that begins with it. */
  account: string;
  /** It is for us whether or not its thread is. */
  addressed: boolean;
  /** The change that came before it and is in `words` already. */
  appliedEdit: EarlyEdit | undefined;
}

/** What was decided about a message. */
export interface InboxDecision {
  /** `changed`: nothing yet, for a change that is not obeyed came first; the others say what became of it. */
  decision: 'changed' | 'stray' | 'known' | 'withdrawn' | 'waits' | 'next';
  /** It waits, and what waits in its thread is held. */
  held: boolean;
}

const RECORD_MESSAGE = {
  name: 'admit',
  text: 'select 0 as place, decision, held from admit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
};
const RECORD_MESSAGES = { name: 'admit_all', text: 'select place, decision, held from admit_all($1)' };
/** Messages that one statement takes at most. */
const MAX_BATCH_SIZE = 100;

interface PendingWrite {
  message: InboxMessage;
  decided: PromiseWithResolvers<InboxDecision>;
}

/** Writes messages down that arrive. */
export class InboxWriter {
  readonly #query: PreparedQuery;
  /** What arrived in a thread while a statement about it is under way, by thread. */
  readonly #pending = new Map<string, PendingWrite[]>();

  /** Without `prepared` the statement is read and planned anew each time. */
  constructor(db: Kysely<Tables>, prepared?: PreparedQuery) {
    this.#query = prepared ?? unpreparedQuery(db);
  }

  /**
   * Decides about a message and writes it down, its thread with it (`admit` and `admit_all` in migration 0022). Of a thread one
   * statement is under way at a time, and what arrives meanwhile shares the next one: a thread that somebody holds
   * locked keeps one connection busy, and no other thread waiting.
   */
  async write(message: InboxMessage): Promise<InboxDecision> {
    const settle = Promise.withResolvers<InboxDecision>();
    const key = `${message.workspace}/${message.channel}/${message.root}`;
    const arrived = this.#pending.get(key);
    if (arrived === undefined) void this.#drain(key, [{ message, decided: settle }]);
    else arrived.push({ message, decided: settle });
    return settle.promise;
  }

  async #drain(key: string, arrived: PendingWrite[]): Promise<void> {
    this.#pending.set(key, arrived);
    while (arrived.length > 0) await this.#writeBatch(arrived.splice(0, MAX_BATCH_SIZE));
    this.#pending.delete(key);
  }

  async #writeBatch(batch: readonly PendingWrite[]): Promise<void> {
    try {
      const decisions = await this.#decide(batch.map(({ message }) => message));
      batch.forEach(({ decided: settle }, index) => {
        const decision = decisions[index];
        if (decision === undefined) settle.reject(new Error('admit gave no answer.'));
        else settle.resolve(decision);
      });
    } catch (error) {
      // Nothing of it was written down; what is wrong with one message must not keep the others out.
      if (batch.length > 1) await Promise.all(batch.map((one) => this.#writeBatch([one])));
      else for (const { decided: settle } of batch) settle.reject(error);
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
    root,
    ts,
    person,
    account,
    words,
    editedTs,
    addressed,
    appliedEdit: obeyed,
  } = message;
  const change = [obeyed?.deleted ?? null, obeyed?.edited_ts ?? null];
  return [
    workspace,
    channel,
    root,
    ts,
    person,
    account,
    toPostgresJson(words),
    editedTs,
    addressed,
    ...change,
  ];
}

function rowOf({ appliedEdit: obeyed, editedTs: edited_ts, ...rest }: InboxMessage, place: number) {
  return { ...rest, place, edited_ts, obeyed_deleted: obeyed?.deleted, obeyed_ts: obeyed?.edited_ts };
}

function unpreparedQuery(db: Kysely<Tables>): PreparedQuery {
  return async <Row extends object>({ text }: { text: string }, values: unknown[]) =>
    (await db.executeQuery<Row>(CompiledQuery.raw(text, values))).rows;
}
