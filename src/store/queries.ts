import type { Kysely, RawBuilder } from 'kysely';
import type { Tables } from './schema.ts';

/** Queries about one subject, on a connection pool or inside one transaction. */
export abstract class Queries {
  readonly db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.db = db;
  }

  /** The rows that a statement returns. */
  protected async rows<Row>(statement: RawBuilder<Row>): Promise<Row[]> {
    return (await statement.execute(this.db)).rows;
  }

  /** The first row that a statement returns. */
  protected async first<Row>(statement: RawBuilder<Row>): Promise<Row | undefined> {
    return (await this.rows(statement))[0];
  }

  /** Runs a statement; returns whether it inserted, updated or deleted a row. */
  protected async changes(statement: RawBuilder<unknown>): Promise<boolean> {
    return changesRow(this.db, statement);
  }
}

/** Runs a statement; returns whether it inserted, updated or deleted a row. */
export async function changesRow(db: Kysely<Tables>, statement: RawBuilder<unknown>): Promise<boolean> {
  const { numAffectedRows = 0n } = await statement.execute(db);
  return numAffectedRows > 0n;
}
