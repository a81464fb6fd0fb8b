import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** The Slack workspaces that the bot is installed in. */
export class Workspaces {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Writes down an installation, or what is new of it. */
  async put(row: { workspace: string; name: string; bot_user: string; bot_id: string }): Promise<void> {
    await this.#db
      .insertInto('workspaces')
      .values(row)
      .onConflict((conflict) =>
        conflict
          .column('workspace')
          .doUpdateSet({ name: row.name, bot_user: row.bot_user, bot_id: row.bot_id }),
      )
      .execute();
  }
}
