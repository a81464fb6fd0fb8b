import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from '../schema.ts';

/** The version that a change of an installation or an account gets. */
export const nextChangeSeq: RawBuilder<number> = sql<number>`nextval('installation_change_seq')`;

/**
 * Makes this transaction's changes of the registry visible after all that have lower versions: whoever has seen a
 * version has seen all before it. To be called before the first `nextVersion` of a transaction.
 */
export async function lockChangeSequence(trx: Kysely<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('installation-changes', 0))`.execute(trx);
}
