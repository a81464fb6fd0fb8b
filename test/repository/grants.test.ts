import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { errorMessage } from '../../src/postgres/errors.ts';
import { checkSchema, openDatabase } from '../../src/store/database.ts';
import { silentLog } from '../support/silent-log.ts';
import { readPage } from './generated-pages.ts';

const [owner = '', grants = ''] = [
  ...(await readPage('docs/operations.md')).matchAll(/```sql\n([\s\S]*?)```/g),
].map(([, sql = '']) => sql);
const administration = inject('administration');

/** Runs the statements of a block of SQL one by one, with a role and a database of this run's own. */
async function runAs(at: pg.ClientConfig, sql: string): Promise<void> {
  const client = new pg.Client(at);
  await client.connect();
  try {
    for (const statement of sql.split(';').filter((text) => text.trim() !== ''))
      await client.query(statement);
  } finally {
    await client.end();
  }
}

test.each([
  ['the owner of its database', owner],
  [
    'a role with the grants alone',
    `${(/create role[^;]*;/.exec(owner) ?? [''])[0]} create database taskthread;`,
  ],
])('by the SQL of docs/operations.md, %s can start Taskthread', async (_, preparation) => {
  const name = `taskthread_${randomUUID().slice(0, 8)}`;
  const named = (sql: string) => sql.replaceAll('taskthread', name);
  const database = { ...administration, database: name };
  try {
    await runAs(administration, named(preparation));
    if (preparation !== owner) await runAs(database, named(grants));
    const connection = { ...database, user: name, password: 'a long random one' };
    const opened = await openDatabase({ embedded: { connection }, log: silentLog });
    try {
      expect(await opened.findTrouble()).toBeUndefined();
    } finally {
      await opened.close();
    }
  } finally {
    await runAs(administration, `drop database if exists ${name}; drop role if exists ${name}`);
  }
});

test('a role without a grant is told it by a start and the doctor, also where its schema has an odd name', async () => {
  const name = `taskthread_${randomUUID().slice(0, 8)}`;
  const database = { ...administration, database: name };
  const connection = { ...database, user: name, password: 'p' };
  try {
    await runAs(administration, `create role ${name} login password 'p'; create database ${name}`);
    await runAs(database, `create schema "Our Lab"; grant usage on schema "Our Lab" to ${name}`);
    await runAs(database, `alter role ${name} in database ${name} set search_path = "Our Lab"`);
    const open = () => openDatabase({ embedded: { connection }, log: silentLog });
    const refused = await open().then(String, errorMessage);
    const [, grant = ''] =
      /^The database's user may not create tables: run "(grant .*)"\.$/.exec(refused) ?? [];
    expect((await checkSchema(connection, silentLog)).obstacle).toBe(refused);
    await runAs(database, grant);
    await (await open()).close();
    expect(await checkSchema(connection, silentLog)).toMatchObject({ pending: [], obstacle: undefined });
  } finally {
    await runAs(administration, `drop database if exists ${name}; drop role if exists ${name}`);
  }
});
