#!/usr/bin/env bash
# A p-value of 0.05 is 0.97, and a sum of doses is one of ages.
# TDIST of hot-formula-parser is the share below t instead of that beyond it on both sides, TINV has the other sign, SUMIF adds up the cells
# that it tests whatever it is to add, MOD keeps no sign, and an empty cell is a 0 for MEDIAN. Guess: the values of a spreadsheet.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . hot-formula-parser@4.0.0

cat >try.mjs <<'JS'
import { Parser } from 'hot-formula-parser';
const sheet = { A: [61, 54, 70, 48], B: [1, 2, 3, 4], C: [5, null, 1, 9] };
const parser = new Parser();
parser.on('callRangeValue', (start, end, done) => {
  const column = 'ABC'[start.column.index];
  done(sheet[column].slice(start.row.index, end.row.index + 1).map((value) => [value]));
});
const known = { 'TDIST(2.228,10,2)': '0.05', 'TINV(0.05,10)': '2.228', 'FINV(0.05,2,10)': '4.103', 'SUMIF(A1:A4,">60",B1:B4)': '4', 'MEDIAN(C1:C4)': '5', 'MOD(-3,5)': '2' };
for (const [formula, value] of Object.entries(known)) {
  const { error, result } = parser.parse(formula);
  console.log(`${formula} is ${error ?? Number(result.toFixed(4))}, in a spreadsheet ${value}`);
}
JS

expected="$(cat <<'SEEN'
TDIST(2.228,10,2) is 0.975, in a spreadsheet 0.05
TINV(0.05,10) is -1.8125, in a spreadsheet 2.228
FINV(0.05,2,10) is 0.0516, in a spreadsheet 4.103
SUMIF(A1:A4,">60",B1:B4) is 131, in a spreadsheet 4
MEDIAN(C1:C4) is 3, in a spreadsheet 5
MOD(-3,5) is 3, in a spreadsheet 2
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "hot-formula-parser@4.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
