import type { ConnectionPool } from '../connection-pool.ts';
import { identityOf, isSurelyDead, type ProcessIdentity } from './process-identity.ts';

/** The processes that may hold work, each with what proves its death to others of its host. Methods throw a StoreError. */
export class ProcessRegistry {
  readonly #pool: ConnectionPool;

  constructor(pool: ConnectionPool) {
    this.#pool = pool;
  }

  /** Registers this process under a new id, before it holds anything, if others can tell that it is dead. */
  async enter(id: string): Promise<void> {
    const { host, pid, started } = identityOf() ?? {};
    if (host === undefined) return;
    const values = [id, host, pid, started];
    await this.#query('insert into processes (id, host, pid, started) values ($1, $2, $3, $4)', values);
  }

  /** The ids of the registered processes that have surely ended. */
  async findDead(): Promise<string[]> {
    const rows = await this.#query('select id, host, pid, started from processes', []);
    return rows.filter(isSurelyDead).map(({ id }) => id);
  }

  /** Forgets processes that hold nothing any more. */
  async remove(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#query('delete from processes where id = any($1::uuid[])', [ids]);
  }

  async #query(text: string, values: unknown[]): Promise<(ProcessIdentity & { id: string })[]> {
    return (await this.#pool.query<ProcessIdentity & { id: string }>(text, values)).rows;
  }
}
