import pg from 'pg';
import { within } from '../calls/retries-and-waits.ts';
import { connectionError, READ_ONLY_SENTENCE, READ_ONLY_SQLSTATE, StoreError } from './errors.ts';

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
/** How long each host may take at the start (ms), if no URL says so: a hosted database that sleeps takes seconds to wake. */
const FIRST_CONNECT_TIMEOUT_MS = 30_000;
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
  readonly #firstConnectMs: number;
  #current = 0;

  /**
   * `at`: one address, or a URL, which like that of libpq may name several hosts, separated by commas, and how long each of
   * them may take at the start (`connect_timeout`, in seconds).
   */
  constructor(at: string | pg.ClientConfig, isPooled = false) {
    this.#addresses = typeof at === 'string' ? hostsOf(at) : [at];
    this.isPooled = isPooled;
    const seconds = typeof at === 'string' ? /[?&]connect_timeout=([1-9]\d*)/.exec(at)?.[1] : undefined;
    this.#firstConnectMs = seconds === undefined ? FIRST_CONNECT_TIMEOUT_MS : Number(seconds) * 1_000;
  }

  get current(): pg.ClientConfig {
    return this.#addresses[this.#current] ?? {};
  }

  /**
   * Moves to the first host that accepts writes. Each has its whole time, as with libpq; while it is silent, the next is tried
   * beside it. Throws the StoreError of the first if none does.
   */
  async findWritable(): Promise<void> {
    const tries: Promise<number>[] = [];
    for (const host of this.#addresses.keys()) {
      tries.push(this.#tryHost(host));
      const found = Promise.any(tries).catch(() => undefined);
      if ((await within(CONNECT_TIMEOUT_MS, found, undefined)) !== undefined) break;
    }
    this.#current = await Promise.any(tries).catch(() => tries[0] ?? 0);
  }

  /** Connects to one of the hosts, once, and returns its number. Throws a StoreError. */
  async #tryHost(host: number): Promise<number> {
    const only = new DatabaseAddresses(this.#addresses[host] ?? {}, this.isPooled);
    try {
      const client = new (databaseClientClass(only, this.#firstConnectMs))();
      await client.connect();
      await within(CONNECT_TIMEOUT_MS, client.end(), undefined);
      return host;
    } catch (error) {
      throw connectionError(error);
    }
  }

  /** This address did not work: the next one is tried, unless another connection has moved on already. */
  moveOnFrom(address: pg.ClientConfig): void {
    if (address === this.current) this.#current = (this.#current + 1) % this.#addresses.length;
  }
}

/** Modes that `pg` takes for verify-full, and warns of. With `uselibpqcompat`, they mean what they mean to libpq. */
const FULL_CHECKS = /^(?!.*[?&]uselibpqcompat=true)(.*[?&]sslmode=)(?:prefer|require|verify-ca)(?![\w-])/s;

function hostsOf(given: string): pg.ClientConfig[] {
  const url = given.replace(FULL_CHECKS, '$1verify-full');
  const [, before = '', hosts = '', after = ''] = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#]+)(.*)$/s.exec(url) ?? [];
  if (!hosts.includes(',')) return [{ connectionString: url }];
  return hosts.split(',').map((host) => ({ connectionString: `${before}${host}${after}` }));
}

/** The class of the connections to these addresses, for a pool or a connection of its own. */
export function databaseClientClass(addresses: DatabaseAddresses, connectTimeoutMs = CONNECT_TIMEOUT_MS) {
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
      });
      this.#address = address;
      // Whoever uses the connection learns it from its statement.
      this.on('error', () => broken.add(this));
    }

    /** What a connection begins with; it takes precedence over the settings of a server, database or role. */
    override getStartupConf(): Record<string, string> {
      const settings = addresses.isPooled ? PASSED_ON : { ...NEEDED, ...LIMITS };
      return { ...settings, ...super.getStartupConf() };
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
        const usable = super.connect().then(() => requireUsable(this, addresses.isPooled));
        if ((await within(connectTimeoutMs, usable, 'late' as const)) === 'late')
          this.connection.stream.destroy(new Error(CONNECT_TIMEOUT));
        await usable;
        return this;
      } catch (error) {
        void this.end();
        addresses.moveOnFrom(this.#address);
        throw error;
      }
    }
  };
}

/** What a server answers; throws `why` if that takes longer (ms, without a limit by default). */
export async function answerInTime<T>(ms: number | undefined, answer: Promise<T>, why = READ_TIMEOUT) {
  const answered = await (ms === undefined ? answer : within(ms, answer, LATE));
  if (answered === LATE) throw new Error(why);
  return answered;
}

const LATE = Symbol('late');
const READ_TIMEOUT = 'Query read timeout';
export const CONNECT_TIMEOUT = 'timeout expired';

/** Whether a failed statement shows that its connection is of no more use, though it still stands. */
export function isConnectionUseless(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.message === READ_TIMEOUT || ('code' in error && error.code === READ_ONLY_SQLSTATE);
}

const broken = new WeakSet<object>();

/** Whether a statement failed because its connection broke, or the server or a pooler ends it. */
export function isConnectionLost(client: pg.ClientBase, error: unknown): boolean {
  return (
    broken.has(client) || (error instanceof pg.DatabaseError && /^(FATAL|PANIC)$/.test(error.severity ?? ''))
  );
}

/** What `pg` reads values by and statements rely on; a pooler passes these on with a connection. */
const PASSED_ON = { DateStyle: 'ISO, MDY', TimeZone: 'UTC', standard_conforming_strings: 'on' };

/** The same, but a pooler does not pass these on: behind one, the database must have them. */
const NEEDED = {
  ...PASSED_ON,
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  array_nulls: 'on',
  default_transaction_isolation: 'read committed',
};

/** What would cut off or slow down statements. Behind a pooler, the operator sets it for the role. */
const LIMITS = {
  default_transaction_deferrable: 'off',
  jit: 'off',
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
};

/** Since PostgreSQL 14 and 17; a server that does not know a setting refuses a connection with it. */
const NEWER_LIMITS = ['idle_session_timeout', 'transaction_timeout'];

/** What a new connection says of its database. */
interface SessionState {
  isReadOnly: boolean;
  version: number;
  encoding: string;
  schema: string | null;
  settings: Record<string, string>;
  database: string;
  /** The beginning of a statement that sets something for our user in this database. */
  alterRole: string;
}

/**
 * Makes sure that a new connection can be used, and reads values as we do.
 * @throws StoreError `unavailable` where it is read-only, `denied` with what must be changed in the database
 */
async function requireUsable(client: pg.Client, isPooled: boolean): Promise<void> {
  const question = {
    text: `select current_setting('transaction_read_only') = 'on' as "isReadOnly",
      current_setting('server_version_num')::int as version,
      current_setting('server_encoding') as encoding, current_schema()::text as schema,
      (select json_object_agg(name, current_setting(name)) from unnest($1::text[]) as needed (name)) as settings,
      (select array_agg(set_config(name, '0', false)) from unnest($2::text[]) as newer (name)
        where current_setting(name, true) is not null) as lifted,
      quote_ident(current_database()) as database,
      format('alter role %I in database %I set', current_user, current_database()) as "alterRole"`,
    values: [Object.keys(NEEDED), isPooled ? [] : NEWER_LIMITS],
  };
  const [state] = (await client.query<SessionState>(question)).rows;
  if (state === undefined || state.isReadOnly) throw new StoreError('unavailable', READ_ONLY_SENTENCE);
  const problem = findProblem(state);
  if (problem !== undefined) throw new StoreError('denied', problem);
}

function findProblem({ version, encoding, schema, settings, database, alterRole }: SessionState) {
  // The first with `gen_random_uuid()`, which claims use.
  if (version < 130_000) return `PostgreSQL ${Math.floor(version / 10_000)} is too old: use 13 or newer.`;
  if (encoding !== 'UTF8')
    return (
      `The database ${database} has the encoding ${encoding} and cannot hold every text. Make one with "create database ` +
      `taskthread_utf8 template template0 encoding 'UTF8' locale 'C'", and name it in DATABASE_URL.`
    );
  if (schema === null)
    return `The database's search_path names no schema that exists: run "${alterRole} search_path = public".`;
  const [name, needed] = Object.entries(NEEDED).find(([each, value]) => settings[each] !== value) ?? [];
  return (
    name &&
    `The pooler's connections have ${name} = '${settings[name]}', and Taskthread needs '${needed}': ` +
      `run "${alterRole} ${name} = '${needed}'", and restart the pooler.`
  );
}
