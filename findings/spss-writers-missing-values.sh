#!/usr/bin/env bash
# A missing haemoglobin is 0 in SPSS; a birthday in Berlin is a day early.
# @codious/sav-reader-writer and sav-writer store null and an empty text as the number 0, drop the seconds of each time, and shift what they
# are given, which has no zone, by the zone of the machine. sav-reader reads it. Guess: system-missing, and the same days and times.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @codious/sav-reader-writer@1.1.4 sav-reader@2.0.8 sav-writer@1.0.0

cat >try.mjs <<'JS'
process.env.TZ = 'Europe/Berlin';
const { readFileSync } = await import('node:fs');
const { createRequire } = await import('node:module');
const require = createRequire(import.meta.url);
const codious = require('@codious/sav-reader-writer');
const { DateHelper, SavBufferReader } = require('sav-reader');
const writer = require('sav-writer');
const { Date: day, DateTime: time, Numeric: number } = codious.VariableType;
const variable = (name, type) => ({ alignment: 0, columns: 8, decimals: 1, label: name, measure: 3, name, type, width: 20 });
const variables = [variable('hb', number), variable('born', day), variable('seen', time)];
const record = (hb) => ({ born: '31-01-1980', hb, seen: '31-01-2026 10:30:45' });
const records = [13.5, null, ''].map(record);
const shown = (seconds) => DateHelper.dateFromNumber(seconds).toISOString();
async function read(bytes) {
  const file = new SavBufferReader(bytes);
  await file.open();
  const rows = await file.readAllRows();
  return `${rows.map(({ hb }) => hb).join(', ')}; born ${shown(rows[0].born)}, seen ${shown(rows[0].seen)}`;
}
console.log('codious:   ', await read(codious.toBuffer(structuredClone(records), variables)));
writer.saveToFile('try.sav', records, variables);
console.log('sav-writer:', await read(readFileSync('try.sav')));
const { records: rows, variables: columns } = codious.toJSON(readFileSync('try.sav'));
console.log('read by codious:', rows.length, 'records,', columns.length, 'variables');
JS

expected="$(cat <<'SEEN'
codious:    13.5, 0, 0; born 1980-01-30T23:00:00.000Z, seen 2026-01-31T09:30:00.000Z
sav-writer: 13.5, 0, 0; born 1980-01-30T23:00:00.000Z, seen 2026-01-31T09:30:00.000Z
read by codious: 0 records, 0 variables
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@codious/sav-reader-writer@1.1.4, sav-reader@2.0.8, sav-writer@1.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
