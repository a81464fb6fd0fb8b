#!/usr/bin/env bash
# A sample of 15 March, 18:00, is one of 16 March, 6:00.
# fast-xlsx-reader adds twelve hours to each date. A row or column of 0 is taken for "not given", so that A1 is no cell once rows have
# been read; and row -1 is the last but one. Guess: 15 March, 18:00; "sample"; the last row.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . fast-xlsx-reader@0.3.1 xlsx@0.18.5

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
const xlsx = require('xlsx');
const { createReader } = require('fast-xlsx-reader');
const book = xlsx.utils.book_new();
const rows = [['sample', 'taken'], ['S1', 45000.75], ['S2', 45001], ['S3', 45002]];
xlsx.utils.book_append_sheet(book, xlsx.utils.aoa_to_sheet(rows), 'samples');
xlsx.writeFile(book, 'samples.xlsx');
const reader = createReader({ input: 'samples.xlsx' });
for (const row of [1, 2]) {
  const { y, m, d, H } = xlsx.SSF.parse_date_code(rows[row][1]);
  console.log(`${rows[row].join(' ')}: ${reader.readCellAsDate(1, row).toISOString()}, in Excel ${y}-${m}-${d} ${H}:00`);
}
reader.readNext();
console.log(`cell 0, 0: ${reader.readCell(0, 0)?.v}; row -1: ${reader.read(-1).join(' ')}`);
JS

expected="$(cat <<'SEEN'
Creating Excel file reader... samples.xlsx
S1 45000.75: 2023-03-16T06:00:00.000Z, in Excel 2023-3-15 18:00
S2 45001: 2023-03-16T12:00:00.000Z, in Excel 2023-3-16 0:00
cell 0, 0: undefined; row -1: S2 45001
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "fast-xlsx-reader@0.3.1, xlsx@0.18.5, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
