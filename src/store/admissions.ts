import { type Kysely, sql } from 'kysely';
import { jsonText } from './json-text.ts';
import type { EarlyChange } from './messages.ts';
import type { SlackTs, Tables, Words } from './tables.ts';
import type { ThreadKey } from './threads.ts';

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

/** What was decided about a message; `changed`: nothing yet, for a change that is not obeyed came first. */
export type Decision = 'changed' | 'stray' | 'known' | 'withdrawn' | 'waits' | 'next';

/** Writes messages down that arrive. */
export class Admissions {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Decides about a message and writes it down, its thread with it, in one statement (migration 0014). */
  async admit(message: ArrivedMessage): Promise<Decision> {
    const { workspace, channel, root, ts, person, account, editedTs, addressed, obeyed } = message;
    const words = jsonText(message.words);
    const { rows } = await sql<{ decision: Decision }>`
      select admit_message(${workspace}, ${channel}, ${root}, ${ts}, ${person}, ${account}, ${words}, ${editedTs},
        ${addressed}, ${obeyed?.deleted ?? null}, ${obeyed?.edited_ts ?? null}) as decision`.execute(
      this.#db,
    );
    const decision = rows[0]?.decision;
    if (decision === undefined) throw new Error('admit_message gave no answer.');
    return decision;
  }
}
