import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** The states of OAuth flows: each completes one installation. */
export class OAuthStates {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Marks a state as used; false if it was used before. */
  async markUsed(state: string): Promise<boolean> {
    const row = await this.#db
      .insertInto('used_oauth_states')
      .values({ state })
      .onConflict((conflict) => conflict.doNothing())
      .returning('state')
      .executeTakeFirst();
    return row !== undefined;
  }
}
