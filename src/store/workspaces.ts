import type { Selectable } from 'kysely';
import { type Kysely, sql } from 'kysely';
import type { Tables, WorkspaceTable } from './tables.ts';

/** The Slack workspaces that the bot is installed in. */
export class Workspaces {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  async get(workspace: string): Promise<Selectable<WorkspaceTable> | undefined> {
    return this.#db
      .selectFrom('workspaces')
      .selectAll()
      .where('workspace', '=', workspace)
      .executeTakeFirst();
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

  /** Notes that an event was received. */
  async noteEvent(workspace: string): Promise<void> {
    await this.#db
      .updateTable('workspaces')
      .set({ last_event_at: sql<Date>`now()` })
      .where('workspace', '=', workspace)
      .execute();
  }
}
