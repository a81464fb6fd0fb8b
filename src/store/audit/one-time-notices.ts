import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** Names a thing that is said once in a channel. */
export interface NoticeKey {
  workspace: string;
  channel: string;
  what: string;
}

/** What is said only once. */
export class OneTimeNotices {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Whether it is for the caller to say it; for everybody else it was said. */
  async claim(saying: NoticeKey): Promise<boolean> {
    const row = await this.#db
      .insertInto('told_once')
      .values({ ...saying })
      .onConflict((conflict) => conflict.doNothing())
      .returning('what')
      .executeTakeFirst();
    return row !== undefined;
  }

  /** It surely was not said. */
  async release({ workspace, channel, what }: NoticeKey): Promise<void> {
    await this.#db
      .deleteFrom('told_once')
      .where('workspace', '=', workspace)
      .where('channel', '=', channel)
      .where('what', '=', what)
      .execute();
  }
}
