#!/usr/bin/env bash
# In a CSV, 1,5 becomes 15, and 1/2 a day of 2001.
# SheetJS takes a decimal comma for a separator of thousands wherever it stands, and two small numbers with a slash or hyphen for a
# day of 2001: ratios, dilutions and ranges of stages. Gene names such as MARCH1 stay text. Guess: the other way round.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . xlsx@0.18.5

cat >try.mjs <<'JS'
import XLSX from 'xlsx';
for (const value of ['1,5', '0,05', '1/2', '3-5', 'MARCH1', '1-Mar']) {
  const { A2 } = XLSX.read(`value\n"${value}"\n`, { type: 'string' }).Sheets.Sheet1;
  console.log(value, '->', A2.t, A2.v);
}
JS

expected="$(cat <<'SEEN'
1,5 -> n 15
0,05 -> n 5
1/2 -> n 36893
3-5 -> n 36955
MARCH1 -> s MARCH1
1-Mar -> s 1-Mar
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "xlsx@0.18.5, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
