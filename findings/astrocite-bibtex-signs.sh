#!/usr/bin/env bash
# Micromolar becomes molar, and a dose below 5 mg is ¡5 mg.
# Macros that it does not know vanish, and the < of a formula becomes ¡. A raised group is shown as an object. Guess: the characters, or
# the source as it is.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . astrocite-bibtex@0.16.4

cat >try.mjs <<'JS'
import { parse } from 'astrocite-bibtex';
const titles = ['5 {\\textmu}M of drug', 'Doses $<$5 mg', 'p\\textless{}0.05', 'Ca$^{2+}$ at 10$^{-9}$ M', '37\\textdegree{}C', '$\\mu$m'];
for (const title of titles) {
  const [{ title: read }] = parse(`@article{a, author = {Doe, Jo}, title = {${title}}, journal = {J. Tests}, year = 2024}`);
  console.log(title, '->', read);
}
JS

expected="$(cat <<'SEEN'
5 {\textmu}M of drug -> 5 M of drug
Doses $<$5 mg -> Doses ¡5 mg
p\textless{}0.05 -> p0.05
Ca$^{2+}$ at 10$^{-9}$ M -> Ca[object Object] at 10[object Object] M
37\textdegree{}C -> 37C
$\mu$m -> μm
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "astrocite-bibtex@0.16.4, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
