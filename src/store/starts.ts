import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { fromNow } from './clock.ts';
import { jsonText } from './json-text.ts';
import type { SlackTs, Start, Tables, Words } from './tables.ts';

/** How long one process has for a post (ms): longer than the call may take. */
const holdMs = 20_000;

/** Names one form. */
export interface StartKey {
  workspace: string;
  id: string;
}

/** What a form is about that is shown before it is sent. */
export interface DraftStart extends StartKey {
  person: string;
  channel: string;
  root: SlackTs | null;
  ts: SlackTs | null;
  turn: string | null;
  source: Words | null;
}

/** What people begin with a form. Each form is carried out once, however often it is sent. */
export class Starts {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  async get({ workspace, id }: StartKey): Promise<Start | undefined> {
    return this.#db
      .selectFrom('starts')
      .selectAll()
      .where('workspace', '=', workspace)
      .where('id', '=', id)
      .executeTakeFirst();
  }

  /** Keeps what an open form is about. */
  async draft(draft: DraftStart): Promise<void> {
    const source = draft.source === null ? null : jsonText(draft.source);
    await this.#db
      .insertInto('starts')
      .values({ ...draft, source, state: 'draft' })
      .onConflict((conflict) => conflict.columns(['workspace', 'id']).doNothing())
      .execute();
  }

  /**
   * Takes a question on that is to be posted into a channel, and holds it for this process; undefined where the same
   * form was sent before.
   */
  async toPost(
    start: StartKey & { person: string; channel: string; words: Words },
  ): Promise<Start | undefined> {
    const { channel, person } = start;
    const set = {
      state: 'posting' as const,
      channel,
      person,
      words: jsonText(start.words),
      holder: randomUUID(),
      held_until: fromNow(holdMs),
    };
    return this.#db
      .insertInto('starts')
      .values({ workspace: start.workspace, id: start.id, ...set })
      .onConflict((conflict) =>
        conflict.columns(['workspace', 'id']).doUpdateSet(set).where('starts.state', '=', 'draft'),
      )
      .returningAll()
      .executeTakeFirst();
  }

  /**
   * Slack would surely not take the post: the form may be sent again. `open`: it still holds what was typed; `anew`: it
   * is shown anew, and its files need not be chosen again; `later`: like that, and its words are kept until it is
   * `shown`, or left over.
   */
  async backToDraft({ workspace, id, source, words }: Start, form: 'open' | 'anew' | 'later'): Promise<void> {
    const files = words?.files === undefined ? {} : { files: words.files };
    await this.#change({ workspace, id })
      .set({
        state: 'draft',
        intended_at: null,
        ...(form === 'open' ? {} : { source: jsonText({ ...(source ?? { text: '' }), ...files }) }),
        ...(form === 'later' ? { held_until: fromNow(holdMs) } : { words: null, held_until: null }),
      })
      .where('state', '=', 'posting')
      .execute();
  }

  /** The form is back with its writer, who has the words now. */
  async shown(key: StartKey): Promise<void> {
    await this.#change(key).set({ words: null, held_until: null }).where('state', '=', 'draft').execute();
  }

  /** An open form's question goes to another channel: its thread takes none. */
  async leaveThread(key: StartKey): Promise<void> {
    await this.#change(key).set({ root: null }).where('state', '=', 'draft').execute();
  }

  /** The post is about to be sent: the first time is noted. False where another process has taken it over. */
  async intend({ workspace, id, holder }: Start): Promise<boolean> {
    const row = await this.#change({ workspace, id })
      .set({ intended_at: sql<Date>`coalesce(intended_at, clock_timestamp())`, held_until: fromNow(holdMs) })
      .where('state', '=', 'posting')
      .where('holder', '=', holder)
      .returning('id')
      .executeTakeFirst();
    return row !== undefined;
  }

  /** The post was surely not sent, and may be later. */
  async forgetIntent(key: StartKey): Promise<void> {
    await this.#change(key).set({ intended_at: null }).execute();
  }

  /** The form is carried out; false where it was before. Its words are not needed any more. */
  async finish(key: StartKey): Promise<boolean> {
    const row = await this.#change(key)
      .set({ state: 'done', source: null, words: null })
      .where('state', '!=', 'done')
      .returning('id')
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Goes on holding questions that are at work. */
  async hold(starts: readonly Pick<Start, 'holder'>[]): Promise<void> {
    const holders = starts.flatMap(({ holder }) => holder ?? []);
    if (holders.length === 0) return;
    await this.#db
      .updateTable('starts')
      .set({ held_until: fromNow(holdMs) })
      .where('holder', 'in', holders)
      .where('held_until', 'is not', null)
      .execute();
  }

  /** Questions that no process is posting or giving back any more, to be posted by this one from now on. */
  async leftOver(most: number): Promise<Start[]> {
    return this.#db
      .updateTable('starts')
      .set({ state: 'posting', holder: randomUUID(), held_until: fromNow(holdMs) })
      .where((where) =>
        where(
          where.refTuple('workspace', 'id'),
          'in',
          where
            .selectFrom('starts')
            .select(['workspace', 'id'])
            .where('state', 'in', ['posting', 'draft'])
            .where('words', 'is not', null)
            .where('held_until', '<', sql<Date>`clock_timestamp()`)
            .limit(most)
            .forUpdate()
            .skipLocked()
            .$asTuple('workspace', 'id'),
        ),
      )
      .returningAll()
      .execute();
  }

  #change({ workspace, id }: StartKey) {
    return this.#db.updateTable('starts').where('workspace', '=', workspace).where('id', '=', id);
  }
}
