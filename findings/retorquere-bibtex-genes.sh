#!/usr/bin/env bash
# The mouse genes Foxp3 and Trp53 lose their capitals, and HeLa, NaCl and IL-2 do not.
# @retorquere/bibtex-parser makes titles sentences: it keeps words with two capitals or in braces, and the first one. Names of genes of
# mice and rats, of genera and of pathways have one capital. Guess: as written, as with `sentenceCase: false`, or words with digits kept.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @retorquere/bibtex-parser@9.0.29

cat >try.mjs <<'JS'
import { parse } from '@retorquere/bibtex-parser';
const titles = ['Role of Foxp3 and IL-2 in CD4+ T Cells', 'Pax6 and Sox2 in Mus Musculus', 'Uptake of NaCl by HeLa Cells without Trp53'];
titles.push('Notch Signaling in {Drosophila} and Escherichia Coli', 'Loss of p53 and Bcl-2');
const read = (title, options) => parse(`@article{a, title = {${title}}}`, options).entries[0].fields.title;
for (const title of titles) console.log(`${title}: ${read(title)}`);
const kept = titles.filter((title) => read(title, { sentenceCase: false }) === title.replaceAll(/[{}]/g, ''));
console.log(`without sentenceCase, ${kept.length} of ${titles.length} as written`);
JS

expected="$(cat <<'SEEN'
Role of Foxp3 and IL-2 in CD4+ T Cells: Role of foxp3 and IL-2 in CD4+ T cells
Pax6 and Sox2 in Mus Musculus: Pax6 and sox2 in mus musculus
Uptake of NaCl by HeLa Cells without Trp53: Uptake of NaCl by HeLa cells without trp53
Notch Signaling in {Drosophila} and Escherichia Coli: Notch signaling in Drosophila and escherichia coli
Loss of p53 and Bcl-2: Loss of p53 and bcl-2
without sentenceCase, 5 of 5 as written
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@retorquere/bibtex-parser@9.0.29, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
