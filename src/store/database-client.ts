import pg from 'pg';
import { READ_ONLY_SQLSTATE } from './errors.ts';
import { initialSettings, requireUsable } from './session-settings.ts';

declare module 'pg' {
  interface ClientBase {
    /** What a connection begins with: user, database and settings. Public in `pg`, and missing in its types. */
    getStartupConf(): Record<string, string>;
    /** The server's process for this connection, as it or a pooler has said; public in `pg`, and missing in its types. */
    processID: number | null;
  }
}

/** A new connection gives up after this time (ms): even with 400 ms to the server, it takes less. */
const CONNECT_TIMEOUT_MS = 4_000;
/** A connection on which nothing was sent for this long is probed by TCP (ms). */
const KEEP_ALIVE_AFTER_MS = 10_000;

/**
 * How values are read: `numeric` as a string with its decimals (a Slack ts stays exact), `bigint` as a number
 * (ours count bytes and attempts, far below 2^53; a larger value throws), `timestamptz` as a Date.
 */
const VALUE_TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pg.types.builtins.INT8 ? parseSafeInteger : pg.types.getTypeParser(oid, format),
};

function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} does not fit in a number`);
  return value;
}

/** The servers of one database; one of them accepts writes. New connections go to the one that did last. */
export class DatabaseAddresses {
  readonly #addresses: readonly pg.ClientConfig[];
  /** They are those of a pooler, which gives each transaction another connection. */
  readonly isPooled: boolean;
  #current = 0;

  /** `at`: one address, or a URL, which may name several hosts, separated by commas, like that of libpq. */
  constructor(at: string | pg.ClientConfig, isPooled = false) {
    this.#addresses = typeof at === 'string' ? hostsOf(at) : [at];
    this.isPooled = isPooled;
  }

  get current(): pg.ClientConfig {
    return this.#addresses[this.#current] ?? {};
  }

  /** Moves on to one that accepts writes, if there are several. */
  async findWritable(): Promise<void> {
    for (let left = this.#addresses.length - 1; left > 0; left -= 1) {
      const client = new (databaseClientClass(this))();
      const found = await client.connect().then(
        () => true,
        () => false,
      );
      if (found) return client.end();
    }
  }

  /** This address did not work: the next one is tried, unless another connection has moved on already. */
  moveOnFrom(address: pg.ClientConfig): void {
    if (address === this.current) this.#current = (this.#current + 1) % this.#addresses.length;
  }
}

function hostsOf(url: string): pg.ClientConfig[] {
  const [, before = '', hosts = '', after = ''] = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#]+)(.*)$/s.exec(url) ?? [];
  if (!hosts.includes(',')) return [{ connectionString: url }];
  return hosts.split(',').map((host) => ({ connectionString: `${before}${host}${after}` }));
}

/** The class of the connections to these addresses, for a pool or a connection of its own. */
export function databaseClientClass(addresses: DatabaseAddresses) {
  /** A connection to the server that accepts writes. `connect` fails where a server is read-only. */
  return class DatabaseClient extends pg.Client {
    readonly #address: pg.ClientConfig;

    constructor(config: pg.ClientConfig = {}) {
      const address = addresses.current;
      super({
        ...config,
        ...address,
        types: VALUE_TYPES,
        keepAlive: true,
        keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      });
      this.#address = address;
      // Whoever uses the connection learns it from its statement.
      this.on('error', () => broken.add(this));
    }

    override getStartupConf(): Record<string, string> {
      return { ...initialSettings(addresses.isPooled), ...super.getStartupConf() };
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: (error?: Error) => void): void;
    override connect(callback?: (error?: Error) => void): Promise<pg.Client> | undefined {
      const connecting = this.#connect();
      if (callback === undefined) return connecting;
      connecting.then(() => callback(), callback);
      return undefined;
    }

    async #connect(): Promise<pg.Client> {
      try {
        await super.connect();
        const timeout = setTimeout(() => void this.end(), CONNECT_TIMEOUT_MS);
        await requireUsable(this, addresses.isPooled)
          .catch((error: unknown) => {
            void this.end();
            throw error;
          })
          .finally(() => clearTimeout(timeout));
        return this;
      } catch (error) {
        addresses.moveOnFrom(this.#address);
        throw error;
      }
    }
  };
}

/** Whether a failed statement shows that its connection is of no more use, though it still stands. */
export function isConnectionUseless(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.message === 'Query read timeout' || ('code' in error && error.code === READ_ONLY_SQLSTATE);
}

const broken = new WeakSet<object>();

/** Whether a statement failed because its connection broke, or the server or a pooler ends it. */
export function isConnectionLost(client: pg.ClientBase, error: unknown): boolean {
  return (
    broken.has(client) || (error instanceof pg.DatabaseError && /^(FATAL|PANIC)$/.test(error.severity ?? ''))
  );
}
