#!/usr/bin/env bash
# Under its heading, a mouse gene is the human one, and 5 mg are 5 megagrams.
# html-to-text writes headings in capitals: Foxp3 becomes FOXP3, mM MM, and the micro sign a capital Greek mu, so that µg reads MG. Table
# headings go the same way with the format for tables; without it, a row is one word. Guess: the letters as they are.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . html-to-text@10.0.1

cat >try.mjs <<'JS'
import { convert } from 'html-to-text';
for (const heading of ['Foxp3 in mice', '5 mg or 5 µg', '10 mM, pH 7.4', 'p-value of miR-21']) console.log(heading, '=>', convert(`<h2>${heading}</h2>`));
const table = '<table><tr><th>Foxp3</th><th>mM</th></tr><tr><td>1</td><td>25</td></tr></table>';
console.log('table:', convert(table));
console.log('as a table:', convert(table, { selectors: [{ selector: 'table', format: 'dataTable' }] }).replaceAll(/\s+/g, ' '));
JS

expected="$(cat <<'SEEN'
Foxp3 in mice => FOXP3 IN MICE
5 mg or 5 µg => 5 MG OR 5 ΜG
10 mM, pH 7.4 => 10 MM, PH 7.4
p-value of miR-21 => P-VALUE OF MIR-21
table: Foxp3mM125
as a table: FOXP3 MM 1 25
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "html-to-text@10.0.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
