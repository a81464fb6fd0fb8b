#!/usr/bin/env bash
# xlsx-calc 0.9.2 computes a workbook's formulas to other numbers than a spreadsheet: the mean of 1, 2, 3, "n.a." and 5 is 2.2 (the text
# counts as a fifth number), 1 2 3 and 2 4 6 have a correlation of 0.14, what is above 4 in 2 4 6 8 10 adds up to 0, -2.5 is rounded to -2,
# and somebody born on the last day of 1980 is 46 on 1 January 2026.
# Guess: 2.75, 1, 24, -3 and 45, as Excel and LibreOffice have it.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . xlsx-calc@0.9.2 xlsx@0.18.5

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
const calculate = require('xlsx-calc');
const { utils } = require('xlsx');
const rows = [[1, 2], [2, 4], [3, 6], ['n.a.', 8], [5, 10]];
for (const formula of ['AVERAGE(A1:A5)', 'CORREL(A1:A3,B1:B3)', 'SUMIF(B1:B5,">4",B1:B5)', 'ROUND(-2.5,0)', 'DATEDIF("1980-12-31","2026-01-01","Y")']) {
  const sheet = utils.aoa_to_sheet(rows);
  sheet.D1 = { t: 'n', v: 0, f: formula };
  sheet['!ref'] = 'A1:D5';
  calculate({ SheetNames: ['Sheet'], Sheets: { Sheet: sheet } });
  console.log(formula, sheet.D1.v);
}
JS

expected="$(cat <<'SEEN'
AVERAGE(A1:A5) 2.2
CORREL(A1:A3,B1:B3) 0.14285714285714285
SUMIF(B1:B5,">4",B1:B5) 0
ROUND(-2.5,0) -2
DATEDIF("1980-12-31","2026-01-01","Y") 46
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "xlsx-calc@0.9.2, xlsx@0.18.5, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
