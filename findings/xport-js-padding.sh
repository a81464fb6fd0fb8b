#!/usr/bin/env bash
# A SAS transport file of three subjects has six, and none as JSON.
# Rows are padded with spaces to 80 bytes. xport-js reads the padding as more rows, with an age of 3.7e-40. What it calls objects are
# arrays with names, which are empty as JSON. Guess: three rows, as arrays and as objects.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . xport-js@0.3.1

cat >try.mjs <<'JS'
import { writeFileSync } from 'node:fs';
import xport from 'xport-js';
const Library = xport.default ?? xport;
const line = (...fields) => fields.map(([text, width]) => text.padEnd(width)).join('').padEnd(80);
const header = (name, rest = '0'.repeat(30)) => `HEADER RECORD*******${name.padEnd(8)}HEADER RECORD!!!!!!!${rest}`.padEnd(80);
const time = '29JAN26:00:00:00';
function variable({ name, type, length, number, place }) {
  const bytes = Buffer.alloc(140, 0);
  [type, 0, length, number].forEach((value, at) => bytes.writeInt16BE(value, 2 * at));
  bytes.write(name.padEnd(8) + name.padEnd(40) + ' '.repeat(8), 8);
  bytes.write(' '.repeat(8), 72);
  bytes.writeInt32BE(place, 84);
  return bytes;
}
const padded = (bytes) => Buffer.concat([bytes, Buffer.alloc((80 - (bytes.length % 80)) % 80, ' ')]);
const first = header('LIBRARY') + line(['SAS', 8], ['SAS', 8], ['SASLIB', 8], ['9.4', 8], ['Linux', 8], ['', 24], [time, 16]) + line([time, 16]);
const member = header('MEMBER', '000000000000000001600000000140') + header('DSCRPTR');
const about = line(['SAS', 8], ['DM', 8], ['SASDATA', 8], ['9.4', 8], ['Linux', 8], ['', 24], [time, 16]) + line([time, 16]);
const variables = [variable({ name: 'AGE', type: 1, length: 8, number: 1, place: 0 }), variable({ name: 'SEX', type: 2, length: 4, number: 2, place: 8 })];
// 34, 35 and 36 as IBM's floating point numbers: 0x42 is 16 squared.
const rows = [[34, 'F'], [35, 'M'], [36, 'F']].map(([age, sex]) => Buffer.concat([Buffer.from([0x42, age, 0, 0, 0, 0, 0, 0]), Buffer.from(sex.padEnd(4))]));
const parts = [Buffer.from(first + member + about + header('NAMESTR', `0000000002${'0'.repeat(20)}`)), padded(Buffer.concat(variables))];
writeFileSync('dm.xpt', Buffer.concat([...parts, Buffer.from(header('OBS')), padded(Buffer.concat(rows))]));
const library = new Library('dm.xpt');
await library.getMetadata();
for (const rowFormat of ['array', 'object']) {
  const read = [];
  for await (const row of library.read({ rowFormat, skipHeader: true })) read.push(row);
  console.log(rowFormat, JSON.stringify(read));
}
JS

expected="$(cat <<'SEEN'
array [[34,"F"],[35,"M"],[36,"F"],[3.687825414344431e-40,""],[3.687825414344431e-40,""],[3.687825414344431e-40,""]]
object [[],[],[],[],[],[]]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "xport-js@0.3.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
