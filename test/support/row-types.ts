import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../src/store/schema.ts';

interface Column {
  table: string;
  name: string;
  /** PostgreSQL's name of the type: a domain's own, an array's with `_` before it. */
  type: string;
  /** What a domain is made of; null for other types. */
  base: string | null;
  /** The condition of a domain, as PostgreSQL writes it. */
  condition: string | null;
  isNullable: boolean;
  hasDefault: boolean;
}

/** What `pg` makes of PostgreSQL's types, with the parsers of `database-client.ts`; every `numeric` is a Slack ts. */
const SCALARS: Readonly<Record<string, string>> = {
  bool: 'boolean',
  float8: 'number',
  int4: 'number',
  int8: 'number',
  numeric: 'SlackTs',
  text: 'string',
  timestamptz: 'Timestamp',
  uuid: 'string',
};

/** Tables that are used by SQL alone, whose rows no code passes on. */
const ONLY_IN_SQL = [
  'one_time_notices',
  'processes',
  'project_channels',
  'receiving',
  'uploaded_files',
  'used_oauth_states',
];

/**
 * The TypeScript types of a database's tables, formatted. A domain of `text` becomes a union of the values that it allows, one
 * of `jsonb` has its type in `JsonColumns`. Throws for a type that nothing here knows.
 *
 * `kysely-codegen` cannot do it: it calls TypeScript's compiler API, which TypeScript 7 does not have.
 */
export async function rowTypes(db: Kysely<Tables>): Promise<string> {
  const columns = await readColumns(db);
  const unions = new Map(
    columns.filter(({ base }) => base === 'text').map((column) => [column.type, column]),
  );
  const typed = columns.filter(({ table }) => !ONLY_IN_SQL.includes(table));
  const tables = Map.groupBy(typed, ({ table }) => table);
  return [
    '// Made from the migrated tables by `npm run vitest -- test/store/tables.test.ts -u`; change the baseline, not this file.',
    "import type { Defaulted, Json, SlackTs, Timestamp } from './column-types.ts';",
    '',
    ...[...unions].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, domain]) => unionOf(domain)),
    '',
    '/** The tables that Kysely knows. */',
    'export interface Tables {',
    ...[...tables].map(([table, its]) => `  ${table}: {\n${its.map(property).join('')}  };`),
    '}',
    '',
  ].join('\n');
}

async function readColumns(db: Kysely<Tables>): Promise<Column[]> {
  const { rows } = await sql<Column>`
    select relname as "table", attname as name, typname as type,
      case when typtype = 'd' then typbasetype::regtype::text end as base,
      (select pg_get_constraintdef(oid) from pg_constraint where contypid = pg_type.oid and contype = 'c') as condition,
      not attnotnull as "isNullable", atthasdef or attidentity <> '' as "hasDefault"
    from pg_attribute join pg_class on attrelid = pg_class.oid join pg_type on atttypid = pg_type.oid
    where relnamespace = current_schema()::regnamespace and relkind = 'r' and attnum > 0 and not attisdropped
      and relname not like 'kysely_migration%'
    order by relname, attnum`.execute(db);
  return rows;
}

function unionOf({ type, condition }: Column): string {
  const values = [...(condition ?? '').matchAll(/'([^']*)'::text/g)].map(([, value]) => `'${value}'`);
  if (values.length === 0) throw new TypeError(`The domain ${type} does not list its values.`);
  const line = `export type ${pascalCase(type)} = ${values.join(' | ')};`;
  return line.length <= 110
    ? line
    : `export type ${pascalCase(type)} =\n${values.map((value) => `  | ${value}`).join('\n')};`;
}

function property(column: Column): string {
  const { name, isNullable, hasDefault } = column;
  const type = `${typeOf(column)}${isNullable ? ' | null' : ''}`;
  return `    ${name}: ${hasDefault ? `Defaulted<${type}>` : type};\n`;
}

function typeOf({ table, name, type, base }: Column): string {
  if (base !== null) return base === 'text' ? pascalCase(type) : `Json<'${type}'>`;
  const scalar = SCALARS[type.replace(/^_/, '')];
  if (scalar === undefined)
    throw new TypeError(`${table}.${name} is ${type}: add it to SCALARS, or make it a domain.`);
  return type.startsWith('_') ? `${scalar}[]` : scalar;
}

function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
