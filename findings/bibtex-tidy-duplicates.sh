#!/usr/bin/env bash
# A reply of Bob Smith goes, because Ann Smith replied elsewhere; sorted, an article stands before the name of its journal.
# Entries of one family name and one title, read without signs, are duplicates, whatever their DOI, year and journal: 5 °C is −5 °C. Sorted,
# a macro moves down with the entry after it. Without braces, only the r of T_reg is below the line. Guess: different DOIs are different
# articles, and macros stay at the top.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . bibtex-tidy@1.14.0

cat >try.mjs <<'JS'
import bibtexTidy from 'bibtex-tidy';
const { tidy } = bibtexTidy;
const article = (key, fields) => `@article{${key}, ${fields}}`;
const library = [
  article('ann', 'author={Smith, Ann}, title={Reply}, journal={Lancet}, year=2019, doi={10.1000/19}'),
  article('bob', 'author={Smith, Bob}, title={Reply}, journal={Nature}, year=2021, doi={10.1000/21}'),
  article('cold', 'author={Li, X}, title={Survival at -5 °C}, doi={10.1000/c}'),
  article('warm', 'author={Li, X}, title={Survival at 5 °C}, doi={10.1000/w}'),
].join('\n');
const { bibtex } = tidy(library, { duplicates: true, merge: 'first' });
console.log('left:', bibtex.match(/(?<=@article\{)\w+/g).join(' '));
const macro = '@string{nm = "Nature Methods"}\n';
const two = macro + article('z', 'title={Z}, journal=nm') + article('a', 'title={A}, journal=nm');
console.log('sorted:', tidy(two, { sort: ['key'] }).bibtex.match(/(?<=@)\w+\{\w+/g).join(' '));
console.log('braces:', tidy(article('k', 'title={Foxp3 in {T}$_{reg}$}'), { removeBraces: true }).bibtex.match(/title.*/)[0]);
JS

expected="$(cat <<'SEEN'
left: ann cold
sorted: article{a string{nm article{z
braces: title         = {Foxp3 in T$_reg$}
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "bibtex-tidy@1.14.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
