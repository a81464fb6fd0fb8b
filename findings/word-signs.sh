#!/usr/bin/env bash
# In the text of a Word document, −80 °C is 80 °C, 5 µg are 5 g, and 5 mg that became 50 are 550.
# A non-breaking hyphen and a symbol (from "Insert symbol") are elements of their own, which officeparser and word-extractor skip.
# docx-parser also keeps what a tracked change has deleted, and word-extractor what has been moved away. Guess: what Word shows.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . officeparser@8.1.1 word-extractor@1.0.4 docx-parser@0.2.1 fflate@0.8.3

cat >try.mjs <<'JS'
import { parseDocx } from 'docx-parser';
import { strToU8, zipSync } from 'fflate';
import { writeFileSync } from 'node:fs';
import { OfficeParser } from 'officeparser';
import WordExtractor from 'word-extractor';
const run = (text) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;
const symbol = (code) => `<w:r><w:sym w:font="Symbol" w:char="${code}"/></w:r>`;
const hyphen = '<w:r><w:noBreakHyphen/></w:r>';
const deleted = (text) => `<w:del w:id="1"><w:r><w:delText>${text}</w:delText></w:r></w:del>`;
const documents = {
  '-80 °C, IL-2': hyphen + run('80 °C, IL') + hyphen + run('2'),
  '5 µg, p ≤ 0.05': run('5 ') + symbol('F06D') + run('g, p ') + symbol('F0A3') + run(' 0.05'),
  'give 50 mg': run('give ') + deleted('5') + `<w:ins w:id="2">${run('50')}</w:ins>` + run(' mg'),
  'Wash. Stain.': `<w:moveFrom w:id="3">${run('Stain.')}</w:moveFrom>${run('Wash. ')}<w:moveTo w:id="4">${run('Stain.')}</w:moveTo>`,
};
const part = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml';
for (const [shown, body] of Object.entries(documents)) {
  const files = {
    '[Content_Types].xml': `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="${part}"/></Types>`,
    '_rels/.rels': '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
    'word/document.xml': `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p>${body}</w:p></w:body></w:document>`,
  };
  writeFileSync('note.docx', zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)]))));
  const { value } = await (await OfficeParser.parseOffice('note.docx')).to('text');
  const texts = [value, (await new WordExtractor().extract('note.docx')).getBody(), await new Promise((resolve) => parseDocx('note.docx', resolve))];
  console.log(shown, '=>', texts.map((text) => text.trim()).join(' | '));
}
process.exit();
JS

expected="$(cat <<'SEEN'
-80 °C, IL-2 => 80 °C, IL2 | 80 °C, IL2 | 80 °C, IL2
5 µg, p ≤ 0.05 => 5 g, p  0.05 | 5 g, p  0.05 | 5 g, p  0.05
give 50 mg => give 50 mg | give 50 mg | give 550 mg
Wash. Stain. => Wash. Stain. | Stain.Wash. Stain. | Stain.Wash. Stain.
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "officeparser@8.1.1, word-extractor@1.0.4, docx-parser@0.2.1, fflate@0.8.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
