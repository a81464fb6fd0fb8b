#!/usr/bin/env bash
# In a report, a minus is a quotation mark, and what follows a Greek letter is lost.
# PDFKit writes letters that its standard fonts do not have by their numbers in Unicode: −80 begins with a quotation mark, ≤ is "d, and
# after α or μ, whose numbers have three digits, all of the line is other letters. There is no error. Guess: an error, or a box.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . pdfkit@0.20.2 unpdf@1.8.1

cat >try.mjs <<'JS'
import PDFDocument from 'pdfkit';
import { extractText, getDocumentProxy } from 'unpdf';
import { buffer } from 'node:stream/consumers';
for (const line of ['5 µg (micro sign)', '5 μg (Greek letter)', 'TNF-α falls', '−80 °C', 'p ≤ 0.05, n ≥ 3', '10⁵ cells']) {
  const document = new PDFDocument();
  document.text(line).end();
  const { text } = await extractText(await getDocumentProxy(new Uint8Array(await buffer(document))), { mergePages: true });
  console.log(line, '=>', text);
}
JS

expected="$(cat <<'SEEN'
5 µg (micro sign) => 5 μg (micro sign)
5 μg (Greek letter) => 5 ;Ær „w&VV² ÆWGFW"•
TNF-α falls => TNF-; `alls
−80 °C => " 80 °C
p ≤ 0.05, n ≥ 3 => p "d 0.05, n "e 3
10⁵ cells => 10 u cells
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "pdfkit@0.20.2, unpdf@1.8.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
