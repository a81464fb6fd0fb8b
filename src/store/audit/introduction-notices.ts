import type { Kysely } from 'kysely';
import type { Tables, Turn } from '../schema.ts';

/** Which answer told a channel that it comes from an automated system. */
export class IntroductionNotices {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Whether this turn's answer is to say it: the first that asks in its channel, however often it asks. */
  async claim({
    workspace,
    channel,
    id: turn,
  }: Pick<Turn, 'workspace' | 'channel' | 'id'>): Promise<boolean> {
    await this.#db
      .insertInto('introductions')
      .values({ workspace, channel, turn })
      .onConflict((conflict) => conflict.columns(['workspace', 'channel']).doNothing())
      .execute();
    const row = await this.#db
      .selectFrom('introductions')
      .select('turn')
      .where('workspace', '=', workspace)
      .where('channel', '=', channel)
      .executeTakeFirst();
    return row?.turn === turn;
  }
}
