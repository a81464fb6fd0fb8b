#!/usr/bin/env bash
# Read as a stream, Ms 山田 is called by the reading of her name, and in µM the sign is its number.
# The stream reader of exceljs gives the last text of a cell, which is the phonetic guide where a table from Japan has one, and leaves the
# escapes of signs as they are; its other reader knows both. Both make 2026 of a cell with an ISO 8601 date. Guess: what Excel shows.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . exceljs@4.4.0 fflate@0.8.3

cat >try.mjs <<'JS'
import ExcelJS from 'exceljs';
import { strToU8, zipSync } from 'fflate';
import { Readable } from 'node:stream';
const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const related = (...parts) => `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${parts.map(([type, target], index) => `<Relationship Id="rId${index + 1}" Type="${office}/${type}" Target="${target}"/>`).join('')}</Relationships>`;
const types = [['workbook', 'sheet.main'], ['worksheets/sheet1', 'worksheet'], ['sharedStrings', 'sharedStrings']];
const files = {
  '[Content_Types].xml': `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>${types.map(([part, type]) => `<Override PartName="/xl/${part}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.${type}+xml"/>`).join('')}</Types>`,
  '_rels/.rels': related(['officeDocument', 'xl/workbook.xml']),
  'xl/workbook.xml': `<workbook ${main} xmlns:r="${office}"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': related(['worksheet', 'worksheets/sheet1.xml'], ['sharedStrings', 'sharedStrings.xml']),
  'xl/sharedStrings.xml': `<sst ${main}><si><t>山田</t><rPh sb="0" eb="2"><t>ヤマダ</t></rPh></si><si><t>5 _x00B5_M</t></si></sst>`,
  'xl/worksheets/sheet1.xml': `<worksheet ${main}><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="d"><v>2026-12-01T10:30:00</v></c></row></sheetData></worksheet>`,
};
const bytes = Buffer.from(zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)]))));
const workbook = await new ExcelJS.Workbook().xlsx.load(bytes);
console.log('load:', workbook.worksheets[0].getRow(1).values.slice(1).join(', '));
const stream = new ExcelJS.stream.xlsx.WorkbookReader(Readable.from([bytes]), { sharedStrings: 'cache' });
for await (const sheet of stream) for await (const row of sheet) console.log('stream:', row.values.slice(1).join(', '));
JS

expected="$(cat <<'SEEN'
load: 山田, 5 µM, 2026
stream: ヤマダ, 5 _x00B5_M, 2026
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "exceljs@4.4.0, fflate@0.8.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
