#!/usr/bin/env bash
# The alleles A, C and G are false, because the ninth one is T.
# µDSV takes the type of a column from one row, the last filled one of the first nine. T, F, Y and N make it Boolean, and all other values
# false; a number makes it numeric, and "<5" NaN. RFC 4180 knows only text. Guess: text, as soon as one value is nothing else.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . udsv@0.7.3

cat >try.mjs <<'JS'
import { inferSchema, initParser } from 'udsv';
function read(values) {
  const table = `sample,value\n${values.map((value, at) => `s${at},${value}\n`).join('')}`;
  return initParser(inferSchema(table)).typedObjs(table).map(({ value }) => value);
}
const cases = [['A', 'C', 'G', 'T', 'A', 'C', 'G', 'T', 'A', 'G'], ['A', 'C', 'G', 'T', 'A', 'C', 'G', 'A', 'T', 'G']];
for (const values of [...cases, ['<5', '7', '>100', '12']]) console.log(values.join(' '), '->', read(values).join(' '));
JS

expected="$(cat <<'SEEN'
A C G T A C G T A G -> A C G T A C G T A G
A C G T A C G A T G -> false false false true false false false false true false
<5 7 >100 12 -> NaN 7 NaN 12
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "udsv@0.7.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
