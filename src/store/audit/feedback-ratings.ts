import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema.ts';

/** Names one person's feedback on one answer. */
export interface FeedbackKey {
  workspace: string;
  turn: string;
  person: string;
}

/** What people think of answers: one word of each person on each, which they may change. */
export class FeedbackRatings {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Takes a person's thumb; a comment that is there stays. */
  async rate(key: FeedbackKey, good: boolean): Promise<void> {
    await this.#db
      .insertInto('feedback')
      .values({ ...key, good })
      .onConflict((conflict) =>
        conflict.columns(['workspace', 'turn', 'person']).doUpdateSet({ good, given_at: sql<Date>`now()` }),
      )
      .execute();
  }

  /** Adds words to a thumb, in place of earlier ones; false where there is no thumb. */
  async addComment(key: FeedbackKey, comment: string): Promise<boolean> {
    const row = await this.#db
      .updateTable('feedback')
      .set({ comment })
      .where('workspace', '=', key.workspace)
      .where('turn', '=', key.turn)
      .where('person', '=', key.person)
      .returning('turn')
      .executeTakeFirst();
    return row !== undefined;
  }

  async get(key: FeedbackKey): Promise<{ good: boolean; comment: string | null } | undefined> {
    return this.#db
      .selectFrom('feedback')
      .select(['good', 'comment'])
      .where('workspace', '=', key.workspace)
      .where('turn', '=', key.turn)
      .where('person', '=', key.person)
      .executeTakeFirst();
  }
}
