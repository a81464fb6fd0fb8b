#!/usr/bin/env bash
# After a note, the third step of a protocol is step 1.
# Where a numbered list of Word goes on after a paragraph, or begins with a number of its own, mammoth begins anew with 1, in HTML and in
# Markdown, and says nothing. Guess: the number that Word shows.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . mammoth@1.13.0 fflate@0.8.3

cat >try.mjs <<'JS'
import { strToU8, zipSync } from 'fflate';
import mammoth from 'mammoth';
const w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const related = (id, type, target) => `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="${id}" Type="${office}/${type}" Target="${target}"/></Relationships>`;
const level = (start) => `<w:lvl w:ilvl="0"><w:start w:val="${start}"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>`;
const numbering = [1, 5].map((start, id) => `<w:abstractNum w:abstractNumId="${id}">${level(start)}</w:abstractNum>`).join('') + [0, 1].map((id) => `<w:num w:numId="${id + 1}"><w:abstractNumId w:val="${id}"/></w:num>`).join('');
const step = (text, list) => `<w:p>${list ? `<w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="${list}"/></w:numPr></w:pPr>` : ''}<w:r><w:t>${text}</w:t></w:r></w:p>`;
async function read(steps) {
  const files = {
    '[Content_Types].xml': '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/></Types>',
    '_rels/.rels': related('a', 'officeDocument', 'word/document.xml'),
    'word/_rels/document.xml.rels': related('b', 'numbering', 'numbering.xml'),
    'word/numbering.xml': `<w:numbering ${w}>${numbering}</w:numbering>`,
    'word/document.xml': `<w:document ${w}><w:body>${steps}</w:body></w:document>`,
  };
  const buffer = Buffer.from(zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)]))));
  const { value, messages } = await mammoth.convertToMarkdown({ buffer });
  console.log(value.trim().split(/\n+/).join(' | '), messages.length, 'messages');
}
await read(step('Wash', 1) + step('Dry', 1) + step('Wait here overnight') + step('Stain', 1));
await read(step('This is step five', 2) + step('This is step six', 2));
JS

expected="$(cat <<'SEEN'
1. Wash | 2. Dry | Wait here overnight | 1. Stain 0 messages
1. This is step five | 2. This is step six 0 messages
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "mammoth@1.13.0, fflate@0.8.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
