import { CompiledQuery, type Kysely } from 'kysely';
import type { Prepared } from './database.ts';
import { jsonText } from './json-text.ts';
import type { ThreadKey } from './keys.ts';
import type { EarlyChange } from './messages.ts';
import type { SlackTs, Tables, Words } from './tables.ts';

/** A message that arrived, and what is known of it. */
export interface ArrivedMessage extends ThreadKey {
  ts: SlackTs;
  person: string;
  words: Words;
  editedTs: SlackTs | null;
  /** The service account of a thread that begins with it. */
  account: string;
  /** It is for us whether or not its thread is. */
  addressed: boolean;
  /** The change that came before it and is in `words` already. */
  obeyed: EarlyChange | undefined;
}

/** What was decided about a message. */
export interface Decision {
  /** `changed`: nothing yet, for a change that is not obeyed came first; the others say what became of it. */
  decision: 'changed' | 'stray' | 'known' | 'withdrawn' | 'waits' | 'next';
  /** It waits, and what waits in its thread is held. */
  held: boolean;
}

const one = {
  name: 'admit',
  text: 'select 0 as place, decision, held from admit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
};
const several = { name: 'admit_all', text: 'select place, decision, held from admit_all($1)' };
/** Messages that one statement takes at most. */
const mostTogether = 100;

interface Waiting {
  message: ArrivedMessage;
  settle: PromiseWithResolvers<Decision>;
}

/** Writes messages down that arrive. */
export class Admissions {
  readonly #ask: Prepared;
  /** What arrived in a thread while a statement about it is under way, by thread. */
  readonly #arrived = new Map<string, Waiting[]>();

  /** Without `prepared` the statement is read and planned anew each time. */
  constructor(db: Kysely<Tables>, prepared?: Prepared) {
    this.#ask = prepared ?? unprepared(db);
  }

  /**
   * Decides about a message and writes it down, its thread with it (`admit` and `admit_all` in migration 0022). Of a thread one
   * statement is under way at a time, and what arrives meanwhile shares the next one: a thread that somebody holds
   * locked keeps one connection busy, and no other thread waiting.
   */
  async admit(message: ArrivedMessage): Promise<Decision> {
    const settle = Promise.withResolvers<Decision>();
    const key = `${message.workspace}/${message.channel}/${message.root}`;
    const arrived = this.#arrived.get(key);
    if (arrived === undefined) void this.#work(key, [{ message, settle }]);
    else arrived.push({ message, settle });
    return settle.promise;
  }

  async #work(key: string, arrived: Waiting[]): Promise<void> {
    this.#arrived.set(key, arrived);
    while (arrived.length > 0) await this.#settle(arrived.splice(0, mostTogether));
    this.#arrived.delete(key);
  }

  async #settle(batch: readonly Waiting[]): Promise<void> {
    try {
      const decisions = await this.#decide(batch.map(({ message }) => message));
      batch.forEach(({ settle }, index) => {
        const decision = decisions[index];
        if (decision === undefined) settle.reject(new Error('admit gave no answer.'));
        else settle.resolve(decision);
      });
    } catch (error) {
      // Nothing of it was written down; what is wrong with one message must not keep the others out.
      if (batch.length > 1) await Promise.all(batch.map((one) => this.#settle([one])));
      else for (const { settle } of batch) settle.reject(error);
    }
  }

  async #decide(messages: readonly ArrivedMessage[]): Promise<Decision[]> {
    const [first] = messages;
    if (first === undefined) return [];
    const rows = await (messages.length === 1
      ? this.#ask<Decision & { place: number }>(one, valuesOf(first))
      : this.#ask<Decision & { place: number }>(several, [jsonText(messages.map(rowOf))]));
    const decisions: Decision[] = [];
    for (const { place, ...decision } of rows) decisions[place] = decision;
    return decisions;
  }
}

/** In the order of the function's parameters. */
function valuesOf(message: ArrivedMessage): unknown[] {
  const { workspace, channel, root, ts, person, account, words, editedTs, addressed, obeyed } = message;
  const change = [obeyed?.deleted ?? null, obeyed?.edited_ts ?? null];
  return [workspace, channel, root, ts, person, account, jsonText(words), editedTs, addressed, ...change];
}

function rowOf({ obeyed, editedTs: edited_ts, ...rest }: ArrivedMessage, place: number) {
  return { ...rest, place, edited_ts, obeyed_deleted: obeyed?.deleted, obeyed_ts: obeyed?.edited_ts };
}

function unprepared(db: Kysely<Tables>): Prepared {
  return async <Row extends object>({ text }: { text: string }, values: unknown[]) =>
    (await db.executeQuery<Row>(CompiledQuery.raw(text, values))).rows;
}
