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
  return (await countChanges(db, statement)) > 0;
}

/** Runs a statement; returns how many rows it inserted, updated or deleted. */
export async function countChanges(db: Kysely<Tables>, statement: RawBuilder<unknown>): Promise<number> {
  return Number((await statement.execute(db)).numAffectedRows ?? 0);
}

/** A value as JSON that PostgreSQL accepts: without NUL characters and lone surrogates, which it rejects. */
export function toPostgresJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === 'string') return withoutInvalidCharacters(part);
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(
      Object.entries(part).map(([name, inner]) => [withoutInvalidCharacters(name), inner]),
    );
  });
}

function withoutInvalidCharacters(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '');
}
