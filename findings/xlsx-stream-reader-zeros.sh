#!/usr/bin/env bash
# xlsx-stream-reader 1.1.1 with its defaults reads a dose of 0 as an empty text where the workbook has no number format of its own, as a
# spreadsheet program leaves it out then. Where there is one (SheetJS always writes one), texts kept in their cells are all "NAN", and without
# one the text 007 there is 7.
# Guess: 0, and the texts.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . xlsx-stream-reader@1.1.1 xlsx@0.18.5 fflate@0.8.2

cat >try.mjs <<'JS'
import { Readable } from 'node:stream';
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
const Reader = require('xlsx-stream-reader');
const { strFromU8, strToU8, unzipSync, zipSync } = require('fflate');
const { utils, write } = require('xlsx');
const sheet = utils.aoa_to_sheet([['P1', '007', 0, 1.5]]);
sheet['!ref'] = 'A1:E1';
const files = unzipSync(write({ SheetNames: ['Sheet'], Sheets: { Sheet: sheet } }, { type: 'buffer', bookType: 'xlsx' }));
// A workbook with a number format of its own, and one without, as a spreadsheet program saves where none was made.
const styles = strFromU8(files['xl/styles.xml']);
for (const [kind, text] of [['with a format', styles], ['without formats', styles.replace(/<numFmts.*<\/numFmts>/, '')]]) {
  const reader = new Reader({});
  reader.on('worksheet', (worksheet) => {
    worksheet.on('row', ({ values }) => console.log(kind, JSON.stringify(values.slice(1))));
    worksheet.process();
  });
  const bytes = Buffer.from(zipSync({ ...files, 'xl/styles.xml': strToU8(text) }));
  await new Promise((resolve) => reader.on('end', resolve) && Readable.from([bytes]).pipe(reader));
}
JS

expected="$(cat <<'SEEN'
with a format ["NAN","7","0","1.5"]
without formats ["P1",7,"",1.5]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "xlsx-stream-reader@1.1.1, xlsx@0.18.5, fflate@0.8.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
