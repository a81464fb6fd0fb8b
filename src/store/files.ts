import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** Slack files at the service: uploaded once into a project, attached many times. */
export class Files {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** The service's file id of a Slack file in a project, where it was uploaded. */
  async uploaded(workspace: string, slackFile: string, projectId: string): Promise<string | undefined> {
    const row = await this.#db
      .selectFrom('files')
      .select('file_id')
      .where('workspace', '=', workspace)
      .where('slack_file', '=', slackFile)
      .where('project_id', '=', projectId)
      .executeTakeFirst();
    return row?.file_id ?? undefined;
  }

  /** Records an upload that is finalized. */
  async record(file: {
    workspace: string;
    slack_file: string;
    project_id: string;
    file_id: string;
    name: string;
    size_bytes: number;
  }): Promise<void> {
    await this.#db
      .insertInto('files')
      .values(file)
      .onConflict((conflict) =>
        conflict.columns(['workspace', 'slack_file', 'project_id']).doUpdateSet({ file_id: file.file_id }),
      )
      .execute();
  }
}
