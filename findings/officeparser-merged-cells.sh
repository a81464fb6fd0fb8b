#!/usr/bin/env bash
# A value below a merged cell moves into the column before, where doses become genes.
# officeparser writes tables of Word files as text without the place that a cell of the row above covers. Its HTML of the same table is
# right. Powers lose their height, 10⁶ is 106. Guess: an empty place, or the value again.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . officeparser@8.1.1 docx@9.15.2

cat >try.mjs <<'JS'
import { writeFile } from 'node:fs/promises';
import { Document, Packer, Paragraph, Table, TableCell, TableRow, TextRun } from 'docx';
import { OfficeParser } from 'officeparser';
const cell = (text, options = {}) => new TableCell({ children: [new Paragraph(text)], ...options });
const rows = [[cell('gene'), cell('dose'), cell('cells')], [cell('TP53', { rowSpan: 2 }), cell('1 µM'), cell('80')]];
rows.push([cell('5 µM'), cell('20')], [cell('MYC'), cell('1 µM'), cell('75')]);
const table = new Table({ rows: rows.map((children) => new TableRow({ children })) });
const power = new Paragraph({ children: [new TextRun('10'), new TextRun({ text: '6', superScript: true }), new TextRun(' cells')] });
await writeFile('results.docx', await Packer.toBuffer(new Document({ sections: [{ children: [power, table] }] })));
const read = await OfficeParser.parseOffice('results.docx');
const [text, html] = [(await read.to('text')).value, (await read.to('html')).value];
console.log(text.split('\n').map((line) => line.trimEnd()).filter(Boolean).join('\n'));
const [, second, third] = html.slice(html.lastIndexOf('<table')).split('</tr>');
for (const row of [second, third]) console.log(row.replaceAll(/\s+|<\/?p>/g, ' ').replaceAll(/ +(?=<)|(?<=>) +/g, '').trim());
JS

expected="$(cat <<'SEEN'
106 cells
| gene | dose | cells |
| TP53 | 1 µM | 80    |
| 5 µM | 20   |
| MYC  | 1 µM | 75    |
<tr><td rowspan="2">TP53</td><td>1 µM</td><td>80</td>
<tr><td>5 µM</td><td>20</td>
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "officeparser@8.1.1, docx@9.15.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
