#!/usr/bin/env bash
# A sample that was taken at 10:30 was taken at 09:30 once it has been stored.
# postgres.js and PGlite write a Date in UTC, and read a column of type timestamp, which has no zone, in the zone of the process: each
# round trip moves the time. pg does both in the zone of the process; timestamptz is right with all. Guess: the Date that was written.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . postgres@3.4.9 @electric-sql/pglite@0.5.14 @electric-sql/pglite-socket@0.2.17

cat >try.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import { createServer } from 'node:net';
import postgres from 'postgres';
const db = await PGlite.create();
await db.exec('create table samples (taken timestamp, sent timestamptz)');
const port = await new Promise((resolve) => {
  const probe = createServer().listen(0, '127.0.0.1', () => {
    const { port } = probe.address();
    probe.close(() => resolve(port));
  });
});
const date = new Date('2026-12-01T10:30:00');
const clock = (time) => time.toTimeString().slice(0, 5);
const [row] = (await db.query('insert into samples values ($1, $2) returning taken, sent, taken::text as stored', [date, date])).rows;
console.log('PGlite:', clock(date), 'is stored as', row.stored.slice(11, 16), 'and read as', clock(row.taken), '| timestamptz', clock(row.sent));
await new PGLiteSocketServer({ db, host: '127.0.0.1', port }).start();
const sql = postgres({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres', max: 1, onnotice: () => {} });
const [read] = await sql`insert into samples values (${date}, ${date}) returning taken, sent, taken::text as stored`;
console.log('postgres.js:', clock(date), 'is stored as', read.stored.slice(11, 16), 'and read as', clock(read.taken), '| timestamptz', clock(read.sent));
process.exit();
JS

expected="$(cat <<'SEEN'
PGlite: 10:30 is stored as 09:30 and read as 09:30 | timestamptz 10:30
postgres.js: 10:30 is stored as 09:30 and read as 09:30 | timestamptz 10:30
SEEN
)"
seen="$(TZ=Europe/Berlin node try.mjs)"
printf '%s\n%s\n' "postgres@3.4.9, @electric-sql/pglite@0.5.14, @electric-sql/pglite-socket@0.2.17, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
