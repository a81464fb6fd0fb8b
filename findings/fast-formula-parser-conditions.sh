#!/usr/bin/env bash
# A sample without a value is below 5, and Treated is not treated.
# fast-formula-parser counts empty cells as 0 in a condition and tells capitals from small letters, where a spreadsheet does neither: groups
# fall in two, and missing values are low ones. WEEKNUM turns on the weekday of 1 January, not on Sundays. Guess: as in a spreadsheet.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . fast-formula-parser@1.0.19

cat >try.mjs <<'JS'
import Parser from 'fast-formula-parser';
const sheet = [['treated', 10, 5], ['Treated', 20, null], ['control', 40, 1], ['TREATED', 80, 9]];
const cell = ({ col, row }) => sheet[row - 1][col - 1];
const onRange = ({ from, to }) => sheet.slice(from.row - 1, to.row).map((cells) => cells.slice(from.col - 1, to.col));
const parser = new Parser({ onCell: cell, onRange });
const known = { 'COUNTIF(C1:C4,"<5")': 1, 'COUNTIF(C1:C4,0)': 0, 'COUNTIF(A1:A4,"treated")': 3, 'SUMIF(A1:A4,"treated",B1:B4)': 110, 'A1=A2': true };
for (const day of [3, 4, 7, 8, 10, 11]) known[`WEEKNUM(DATE(2026,1,${day}))`] = day < 4 ? 1 : day < 11 ? 2 : 3;
for (const [formula, value] of Object.entries(known)) {
  console.log(`${formula} is ${parser.parse(formula, { col: 9, row: 9, sheet: 'Sheet1' })}, in a spreadsheet ${value}`);
}
JS

expected="$(cat <<'SEEN'
COUNTIF(C1:C4,"<5") is 2, in a spreadsheet 1
COUNTIF(C1:C4,0) is 1, in a spreadsheet 0
COUNTIF(A1:A4,"treated") is 1, in a spreadsheet 3
SUMIF(A1:A4,"treated",B1:B4) is 10, in a spreadsheet 110
A1=A2 is false, in a spreadsheet true
WEEKNUM(DATE(2026,1,3)) is 1, in a spreadsheet 1
WEEKNUM(DATE(2026,1,4)) is 1, in a spreadsheet 2
WEEKNUM(DATE(2026,1,7)) is 1, in a spreadsheet 2
WEEKNUM(DATE(2026,1,8)) is 2, in a spreadsheet 2
WEEKNUM(DATE(2026,1,10)) is 2, in a spreadsheet 2
WEEKNUM(DATE(2026,1,11)) is 2, in a spreadsheet 3
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "fast-formula-parser@1.0.19, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
