import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';

/** A statement with more values than this has a text of its own each time: a list of rows. */
const MAX_VALUES = 40;

/** What PostgreSQL says of a prepared statement whose table has changed since. */
export const OUTDATED_PLAN_MESSAGE = /cached plan must not change result type/;

/** Part of the names: a change of the tables needs statements under new names. */
let generation = 0;

/** The names of the texts that were used last. */
const names = new LRUCache<string, string>({
  max: 1_000,
  memoMethod: (text) => createHash('sha1').update(text).digest('base64url'),
});

/**
 * The statement under a name made from its text: a connection parses and plans it once. A text without values runs as
 * it is, unless `always`; so does one with several statements.
 */
export function prepared(text: string, values: readonly unknown[] = [], always = false): pg.QueryConfig {
  const statement = { text, values: [...values] };
  const isSingle = values.length > 0 || (always && !/;\s*\S/.test(text));
  if (!isSingle || values.length > MAX_VALUES) return statement;
  return { ...statement, name: `${generation}-${names.memo(text)}` };
}

/** A newer release may have changed a table: after this error, its statements are prepared again. */
export function forgetOutdatedPlans(error: unknown): void {
  if (error instanceof Error && OUTDATED_PLAN_MESSAGE.test(error.message)) generation += 1;
}
