#!/usr/bin/env bash
# dbf-reader 1.0.3 has every date a month late: 31 January 2026 is read as 3 March, 31 May 1980 as 1 July (the month goes into Date as it is
# written, and Date counts from 0). A temperature that was never entered is 0, and a logical "not known" (a question mark) is false.
# Guess: the dates of the table, and null for what is empty, as dbffile reads it.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . dbf-reader@1.0.3

cat >try.mjs <<'JS'
import { Dbf } from 'dbf-reader';
process.env.TZ = 'UTC';
// A dBASE III table: a number, a logical value and a date for each person.
const fields = [['ID', 'C', 2, 0], ['TEMP', 'N', 5, 1], ['ILL', 'L', 1, 0], ['BORN', 'D', 8, 0]];
const rows = [['P1', '36.6', 'T', '19800531'], ['P2', '', '?', ''], ['P3', '0.0', 'F', '20260131']];
const width = 1 + fields.reduce((sum, [, , length]) => sum + length, 0);
const start = 32 + 32 * fields.length + 1;
const table = Buffer.alloc(start + width * rows.length + 1, ' ');
table.fill(0, 0, start);
table.set([3, 126, 12, 1]);
table.writeUInt32LE(rows.length, 4);
table.writeUInt16LE(start, 8);
table.writeUInt16LE(width, 10);
fields.forEach(([name, type, length, decimals], index) => {
  table.write(name, 32 + 32 * index);
  table.write(type, 32 + 32 * index + 11);
  table.set([length, decimals], 32 + 32 * index + 16);
});
table[start - 1] = 13;
rows.forEach((row, index) => {
  const text = row.map((value, column) => (fields[column][1] === 'N' ? value.padStart(fields[column][2]) : value.padEnd(fields[column][2]))).join('');
  table.write(text, start + index * width + 1);
});
table[table.length - 1] = 26;
for (const { ID, TEMP, ILL, BORN } of Dbf.read(table).rows) console.log(ID, TEMP, ILL, BORN?.toDateString() ?? BORN);
JS

expected="$(cat <<'SEEN'
P1 36.6 true Tue Jul 01 1980
P2 0 false null
P3 0 false Tue Mar 03 2026
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "dbf-reader@1.0.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
