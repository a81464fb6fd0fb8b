import { createHash } from 'node:crypto';
import type { PostgresCursor, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import type pg from 'pg';

/** A statement with more values than this has a text of its own each time: a list of rows. */
const MAX_VALUES = 40;

/** What PostgreSQL says of a prepared statement whose table has changed since. */
export const OUTDATED_PLAN_MESSAGE = /cached plan must not change result type/;

/** Part of the names: a change of the tables needs statements under new names. */
let generation = 0;

/**
 * The statement under a name made from its text: a connection parses and plans it once. A text without values runs as
 * it is, unless `always`; so does one with several statements.
 */
export function prepared(text: string, values: readonly unknown[] = [], always = false): pg.QueryConfig {
  const statement = { text, values: [...values] };
  const isSingle = values.length > 0 || (always && !/;\s*\S/.test(text));
  if (!isSingle || values.length > MAX_VALUES) return statement;
  return { ...statement, name: `${generation}-${createHash('sha1').update(text).digest('base64url')}` };
}

/** A connection that prepares its statements. */
export class PreparingClient implements PostgresPoolClient {
  readonly #client: pg.PoolClient;

  constructor(client: pg.PoolClient) {
    this.#client = client;
  }

  query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query(text: unknown, values: readonly unknown[] = []): unknown {
    if (typeof text !== 'string') throw new Error('There are no cursors.');
    return this.#client.query(prepared(text, values)).catch((error: unknown) => {
      // A newer release has changed a table: its statements are prepared again.
      if (error instanceof Error && OUTDATED_PLAN_MESSAGE.test(error.message)) generation += 1;
      throw error;
    });
  }

  release(destroy?: boolean): void {
    this.#client.release(destroy);
  }
}
