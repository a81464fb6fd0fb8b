import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema.ts';

/** Identifies one person's rating of one answer. */
export interface FeedbackKey {
  workspace: string;
  turn: string;
  person: string;
}

/** Ratings of answers: one of each person for each answer, which they may change. */
export class FeedbackRatings {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Records a person's rating; an existing comment stays. */
  async rate(key: FeedbackKey, good: boolean): Promise<void> {
    await this.#db
      .insertInto('feedback')
      .values({ ...key, good })
      .onConflict((conflict) =>
        conflict.columns(['workspace', 'turn', 'person']).doUpdateSet({ good, given_at: sql<Date>`now()` }),
      )
      .execute();
  }

  /** Sets the comment of a rating; false if there is no rating. */
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
