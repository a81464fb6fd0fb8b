import { type Kysely, sql } from 'kysely';
import { fromNow } from '../clock.ts';
import type { Tables } from '../schema.ts';

/** How long a process keeps its connections without a word (ms). */
export const SOCKET_LEASE_MS = 8_000;

/** A process that may hold connections of a Slack app. */
export interface SocketLeaseKey {
  workspace: string;
  /** The Slack app: its connections are counted together. */
  app: string;
  process: string;
}

/** What a process is told of the app's connections. */
export interface SocketShare {
  /** How many connections it may have open until its lease is over. */
  allowed: number;
  /** Processes that live, itself among them. */
  processes: number;
}

/**
 * How many connections a process may have: two where that suffices for everybody, else one, and never more than are
 * free. A process alone has two; of several, at least two have one as long as `most` is two or more. Pure.
 */
export function fairShare(at: { most: number; processes: number; taken: number }): number {
  const fair = at.processes * 2 <= at.most ? 2 : 1;
  return Math.max(0, Math.min(fair, at.most - at.taken));
}

/** The processes that share a Slack app's connections: one row each, by the database's clock. */
export class SocketLeases {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /**
   * Renews a process's lease, or begins it. `open` is what the process has open now: it counts until the process says
   * that it has fewer, so that no two ever hold the same place.
   */
  async renew(key: SocketLeaseKey, open: number, most: number): Promise<SocketShare> {
    return this.#db.transaction().execute(async (trx) => {
      const name = `socket-leases/${key.workspace}/${key.app}`;
      await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(trx);
      const others = await trx
        .selectFrom('socket_leases')
        .select([
          sql<number>`count(*)::int`.as('living'),
          sql<number>`coalesce(sum(sockets), 0)::int`.as('taken'),
        ])
        .where('workspace', '=', key.workspace)
        .where('app', '=', key.app)
        .where('process', '!=', key.process)
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
        .onConflict((conflict) => conflict.columns(['workspace', 'app', 'process']).doUpdateSet(values))
        .execute();
      return { allowed, processes };
    });
  }

  /** Gives a process's connections back at once. */
  async release(key: SocketLeaseKey): Promise<void> {
    await this.#db
      .deleteFrom('socket_leases')
      .where('workspace', '=', key.workspace)
      .where('app', '=', key.app)
      .where('process', '=', key.process)
      .execute();
  }

  /** Gives everybody's back: whoever holds the embedded server knows that all others are dead. */
  async releaseAll(): Promise<void> {
    await this.#db.deleteFrom('socket_leases').execute();
  }
}
