import type { DeleteResult, InsertResult, Kysely, UpdateResult } from 'kysely';
import type { Tables } from './schema.ts';

/** Queries about one subject, on a connection pool or inside one transaction. */
export abstract class Queries {
  readonly db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.db = db;
  }
}

/** Runs a statement; returns whether it inserted, updated or deleted a row. */
export async function changesRow(statement: {
  executeTakeFirstOrThrow(): Promise<InsertResult | UpdateResult | DeleteResult>;
}): Promise<boolean> {
  const result = await statement.executeTakeFirstOrThrow();
  if ('numUpdatedRows' in result) return result.numUpdatedRows > 0n;
  if ('numDeletedRows' in result) return result.numDeletedRows > 0n;
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}
