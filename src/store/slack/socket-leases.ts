import { sql } from 'kysely';
import { fromNow } from '../clock.ts';
import { Queries } from '../queries.ts';
import type { Tables } from '../schema.ts';

/** How long a lease lasts without renewal (ms). */
export const SOCKET_LEASE_MS = 8_000;

/** A process that may hold connections of a Slack app. */
export type SocketLeaseKey = Pick<Tables['socket_leases'], 'workspace' | 'app_id' | 'process_id'>;

/** A process's share of the app's connections. */
export interface SocketShare {
  /** How many connections it may have open until its lease ends. */
  allowed: number;
  /** Live processes, including this one. */
  processes: number;
}

/**
 * How many connections a process may have: two if there are enough for all processes, else one, and never more than are
 * free. A single process has two; of several, at least two have one if `most` is two or more. Pure.
 */
export function fairShare(at: { most: number; processes: number; taken: number }): number {
  const fair = at.processes * 2 <= at.most ? 2 : 1;
  return Math.max(0, Math.min(fair, at.most - at.taken));
}

/** The processes that share a Slack app's connections: one row each, by the database's clock. */
export class SocketLeases extends Queries {
  /**
   * Renews or starts a process's lease. `open` connections count until the process reports fewer, so that two processes
   * never use the same one.
   */
  async renew(key: SocketLeaseKey, open: number, most: number): Promise<SocketShare> {
    return this.db.transaction().execute(async (trx) => {
      const name = `socket-leases/${key.workspace}/${key.app_id}`;
      await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(trx);
      const others = await trx
        .selectFrom('socket_leases')
        .select([
          sql<number>`count(*)::int`.as('living'),
          sql<number>`coalesce(sum(sockets), 0)::int`.as('taken'),
        ])
        .where((row) => row.and({ workspace: key.workspace, app_id: key.app_id }))
        .where('process_id', '!=', key.process_id)
        .where('expires_at', '>', sql<Date>`clock_timestamp()`)
        .executeTakeFirstOrThrow();
      const processes = others.living + 1;
      const allowed = fairShare({ most, processes, taken: others.taken });
      const values = {
        sockets: Math.max(open, allowed),
        expires_at: fromNow(SOCKET_LEASE_MS),
      };
      await trx
        .insertInto('socket_leases')
        .values({ ...key, ...values })
        .onConflict((conflict) => conflict.columns(['workspace', 'app_id', 'process_id']).doUpdateSet(values))
        .execute();
      return { allowed, processes };
    });
  }

  /** Ends a process's lease. */
  async release(key: SocketLeaseKey): Promise<void> {
    await this.db
      .deleteFrom('socket_leases')
      .where((row) => row.and({ workspace: key.workspace, app_id: key.app_id, process_id: key.process_id }))
      .execute();
  }

  /** Ends all leases: the owner of the embedded server knows that all other processes are dead. */
  async releaseAll(): Promise<void> {
    await this.db.deleteFrom('socket_leases').execute();
  }
}
