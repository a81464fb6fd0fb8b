import { sql } from 'kysely';
import { fromNow, Queries } from '../queries.ts';
import type { SocketLease } from '../schema.ts';

/** How long a lease lasts without renewal (ms). */
export const SOCKET_LEASE_MS = 8_000;

/** A process that may hold connections of a Slack app. */
export type SocketLeaseKey = Pick<SocketLease, 'workspace' | 'app_id' | 'process_id'>;

/** A process's share of the app's connections. */
export interface SocketShare {
  /** How many connections it may have open until its lease ends. */
  allowed: number;
  /** Live processes, including this one. */
  processes: number;
}

/** How many connections a process may have, of so many live processes, with itself, and what the others have taken. */
export type ShareRule = (at: { processes: number; taken: number }) => number;

/** The processes that share a Slack app's connections: one row each, by the database's clock. */
export class SocketLeases extends Queries {
  /**
   * Renews or starts a process's lease. `open` connections count until the process reports fewer, so that two processes
   * never use the same one.
   */
  async renew(key: SocketLeaseKey, open: number, rule: ShareRule): Promise<SocketShare> {
    return (await this.#renewUnchanged(key, open, rule)) ?? this.#renewLocked(key, open, rule);
  }

  /** Renews a lease whose share stays the same, which needs no lock; undefined if it does not. */
  async #renewUnchanged(
    key: SocketLeaseKey,
    open: number,
    rule: ShareRule,
  ): Promise<SocketShare | undefined> {
    const { workspace, app_id, process_id } = key;
    const { rows } = await sql<OtherLeases & { sockets: number | null }>`
      with renewed as (
        update socket_leases set expires_at = ${fromNow(SOCKET_LEASE_MS)}
        where (workspace, app_id, process_id) = (${workspace}, ${app_id}, ${process_id})
          -- Others may already count a lease that ends now as ended.
          and expires_at > clock_timestamp() + interval '1 s'
        returning sockets)
      select (select sockets from renewed) as sockets, ${countOthers(key)}`.execute(this.db);
    const [{ living, taken, sockets } = { living: 0, taken: 0, sockets: null }] = rows;
    const allowed = rule({ processes: living + 1, taken });
    return Math.max(open, allowed) === sockets ? { allowed, processes: living + 1 } : undefined;
  }

  async #renewLocked(key: SocketLeaseKey, open: number, rule: ShareRule): Promise<SocketShare> {
    return this.db.transaction().execute(async (trx) => {
      const name = `socket-leases/${key.workspace}/${key.app_id}`;
      await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(trx);
      const { rows } = await sql<OtherLeases>`select ${countOthers(key)}`.execute(trx);
      const { living, taken } = rows[0] ?? { living: 0, taken: 0 };
      const processes = living + 1;
      const allowed = rule({ processes, taken });
      const values = { sockets: Math.max(open, allowed), expires_at: fromNow(SOCKET_LEASE_MS) };
      const lease = trx.insertInto('socket_leases').values({ ...key, ...values });
      await lease
        .onConflict((conflict) => conflict.columns(['workspace', 'app_id', 'process_id']).doUpdateSet(values))
        .execute();
      return { allowed, processes };
    });
  }

  /** Ends a process's lease. */
  async release(key: SocketLeaseKey): Promise<void> {
    const { workspace, app_id, process_id } = key;
    await this.changes(sql`
      delete from socket_leases where (workspace, app_id, process_id) = (${workspace}, ${app_id}, ${process_id})`);
  }

  /** Ends all leases: the owner of the embedded server knows that all other processes are dead. */
  async releaseAll(): Promise<void> {
    await this.db.deleteFrom('socket_leases').execute();
  }
}

/** The leases of the other processes that live, and their connections. */
type OtherLeases = Record<'living' | 'taken', number>;

function countOthers({ workspace, app_id, process_id }: SocketLeaseKey) {
  return sql`count(*)::int as living, coalesce(sum(sockets), 0)::int as taken
    from socket_leases where workspace = ${workspace} and app_id = ${app_id} and process_id <> ${process_id}
      and expires_at > clock_timestamp()`;
}
