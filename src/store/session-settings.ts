import type pg from 'pg';
import { READ_ONLY_SENTENCE, StoreError } from './errors.ts';

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

/** The settings to begin a connection with; they take precedence over those of a server, database or role. */
export function initialSettings(isPooled: boolean): Record<string, string> {
  return isPooled ? PASSED_ON : { ...NEEDED, ...LIMITS };
}

/** What a new connection says of its database. */
interface SessionState {
  isReadOnly: boolean;
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
export async function requireUsable(client: pg.Client, isPooled: boolean): Promise<void> {
  const { rows } = await client.query<SessionState>(
    `select current_setting('transaction_read_only') = 'on' as "isReadOnly",
      current_setting('server_encoding') as encoding, current_schema()::text as schema,
      (select json_object_agg(name, current_setting(name)) from unnest($1::text[]) as needed (name)) as settings,
      (select array_agg(set_config(name, '0', false)) from unnest($2::text[]) as newer (name)
        where current_setting(name, true) is not null) as lifted,
      quote_ident(current_database()) as database,
      format('alter role %I in database %I set', current_user, current_database()) as "alterRole"`,
    [Object.keys(NEEDED), isPooled ? [] : NEWER_LIMITS],
  );
  const [state] = rows;
  if (state === undefined || state.isReadOnly) throw new StoreError('unavailable', READ_ONLY_SENTENCE);
  const problem = findProblem(state);
  if (problem !== undefined) throw new StoreError('denied', problem);
}

function findProblem({ encoding, schema, settings, database, alterRole }: SessionState): string | undefined {
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
