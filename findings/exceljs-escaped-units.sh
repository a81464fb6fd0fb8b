#!/usr/bin/env bash
# A concentration of 4.5 mM is noon of 3 January 1900.
# A number format may have its unit in quotes or behind backslashes. exceljs leaves out what is in quotes before it looks for the letters
# of dates, but not what is escaped, so that d, h, m, s, y and even b make a date. Guess: 4.5.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . exceljs@4.4.0

cat >try.mjs <<'JS'
import Excel from 'exceljs';
const formats = ['0.0 "mM"', '0.0\\ \\m\\M', '0.0\\ \\m\\g', '0\\ \\k\\b', '0.0\\ \\U'];
const book = new Excel.Workbook();
const sheet = book.addWorksheet('doses');
for (const numFmt of formats) Object.assign(sheet.addRow([4.5]).getCell(1), { numFmt });
const again = await new Excel.Workbook().xlsx.load(await book.xlsx.writeBuffer());
for (const [index, numFmt] of formats.entries())
  console.log(numFmt, '->', JSON.stringify(again.getWorksheet('doses').getRow(index + 1).getCell(1).value));
JS

expected="$(cat <<'SEEN'
0.0 "mM" -> 4.5
0.0\ \m\M -> "1900-01-03T12:00:00.000Z"
0.0\ \m\g -> "1900-01-03T12:00:00.000Z"
0\ \k\b -> "1900-01-03T12:00:00.000Z"
0.0\ \U -> 4.5
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "exceljs@4.4.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
