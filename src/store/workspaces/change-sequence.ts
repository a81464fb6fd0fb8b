import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import type { Tables } from '../schema.ts';

/** The version of a change of a workspace, an installation or an account. */
export const nextChangeSeq: RawBuilder<number> = sql<number>`nextval('installation_change_seq')`;

/** Makes changes in a transaction under `lockChangeSequence`. */
export async function inChangeSequence<T>(
  db: Kysely<Tables>,
  work: (trx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(async (trx) => {
    await lockChangeSequence(trx);
    return work(trx);
  });
}

/**
 * Makes this transaction's changes visible after all changes with lower versions, so that a reader that has seen a
 * version has seen all before it. Call it before the first `nextChangeSeq` of a transaction.
 */
export async function lockChangeSequence(trx: Kysely<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('installation-changes', 0))`.execute(trx);
}
