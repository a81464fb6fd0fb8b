#!/usr/bin/env bash
# A decimal column is read a hundred times too large.
# Databases write doses as decimals: digits and how many of them stand behind the point. Arrow's rows have the digits alone, as text, as a
# number and as JSON; the point is in the schema. The file is one that Arrow writes itself. Guess: 1.50, -1.50 and 25.00.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . apache-arrow@21.2.0

cat >try.mjs <<'JS'
import { Decimal, makeData, makeVector, Table, tableFromIPC, tableToIPC } from 'apache-arrow';
const type = new Decimal(2, 10, 128);
// 1.50, -1.50 and 25.00: whole hundredths in 128 bits.
const words = new Uint32Array(new BigInt64Array([150n, 0n, -150n, -1n, 2500n, 0n]).buffer);
const table = new Table({ dose: makeVector(makeData({ type, length: 3, data: words })) });
const read = tableFromIPC(tableToIPC(table));
console.log('scale', read.schema.fields[0].type.scale);
for (const { dose } of read.toArray()) console.log(String(dose), Number(dose), JSON.stringify({ dose }));
JS

expected="$(cat <<'SEEN'
scale 2
150 150 {"dose":"\"150\""}
-150 -150 {"dose":"\"-150\""}
2500 2500 {"dose":"\"2500\""}
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "apache-arrow@21.2.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
