#!/usr/bin/env bash
# In a list from the database, a person whose infection is not known is not infected.
# postgres.js reads a missing value inside an array like any other text: in a list of texts it is the word NULL, in one of booleans false,
# in one of dates an invalid date. A missing value by itself is null. (The database is PGlite.) Guess: null in both.
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
const port = await new Promise((resolve) => {
  const probe = createServer().listen(0, '127.0.0.1', () => {
    const { port } = probe.address();
    probe.close(() => resolve(port));
  });
});
await new PGLiteSocketServer({ db: await PGlite.create(), host: '127.0.0.1', port }).start();
const sql = postgres({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres', max: 1, onnotice: () => {} });
for (const list of ["array['wt', null]", 'array[5::int, null]', 'array[true, null]', "array['2026-12-01'::date, null]", 'null::bool']) {
  const [{ seen }] = await sql.unsafe(`select ${list} as seen`);
  console.log(list, '=>', Array.isArray(seen) ? seen.map(String).join(', ') : seen);
}
process.exit();
JS

expected="$(cat <<'SEEN'
array['wt', null] => wt, NULL
array[5::int, null] => 5, NaN
array[true, null] => true, false
array['2026-12-01'::date, null] => Tue Dec 01 2026 00:00:00 GMT+0000 (Coordinated Universal Time), Invalid Date
null::bool => null
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "postgres@3.4.9, @electric-sql/pglite@0.5.14, @electric-sql/pglite-socket@0.2.17, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
