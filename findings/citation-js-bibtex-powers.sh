#!/usr/bin/env bash
# 10⁵ cells in a title are 105 cells in BibTeX, and 10⁻⁶ M are 10−6 M.
# citation-js reads 10$^{-6}$ and H$_2$O as text with raised and lowered digits, and writes these as plain ones. What is marked with <sup>
# is right. Guess: raised, there and back.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @citation-js/core@0.9.0 @citation-js/plugin-bibtex@0.9.0

cat >try.mjs <<'JS'
import { Cite } from '@citation-js/core';
import '@citation-js/plugin-bibtex';
const titles = ['Growth at 10$^{-6}$ M in H$_2$O', 'Growth at 10⁻⁶ M and 37 °C, in 10⁵ cells/cm²'];
for (const title of titles) {
  const read = new Cite(`@article{a, title = {${title}}, year = {2026}}`);
  const written = read.format('bibtex');
  console.log(`${title}\n  is read as`, read.data[0].title);
  console.log('  is written as', /title = (.*),/.exec(written)[1]);
  console.log('  is read back as', new Cite(written).data[0].title);
}
const marked = new Cite({ id: 'b', type: 'article-journal', title: 'Growth at 10<sup>−6</sup> M' });
console.log(/title = (.*),/.exec(marked.format('bibtex'))[1]);
JS

expected="$(cat <<'SEEN'
Growth at 10$^{-6}$ M in H$_2$O
  is read as Growth at 10⁻⁶ M in H₂O
  is written as {Growth at 10\textminus{}6 {M} in {H2O}}
  is read back as Growth at 10−6 M in H2O
Growth at 10⁻⁶ M and 37 °C, in 10⁵ cells/cm²
  is read as Growth at 10⁻⁶ M and 37 °C, in 10⁵ cells/cm²
  is written as {Growth at 10\textminus{}6 {M} and 37 \textdegree{}{C}, in 105 cells/cm2}
  is read back as Growth at 10−6 M and 37 °C, in 105 cells/cm2
{Growth at 10\textsuperscript{\textminus{}6} {M}}
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@citation-js/core@0.9.0, @citation-js/plugin-bibtex@0.9.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
