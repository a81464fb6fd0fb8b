#!/usr/bin/env bash
# The name of a sample becomes a column, and a cell below a merged one slides to the left.
# Both packages take each th for a column's heading, also the one that heads a row (scope="row" in HTML, and pandas' index): 002 is then a
# column, and no sample has a name. With rowspan, html-table-to-json puts the dose under the sample. Guess: each cell by its column.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . html-table-to-json@1.0.0 tabletojson@4.1.15

cat >try.mjs <<'JS'
import toJson from 'html-table-to-json';
import { Tabletojson } from 'tabletojson';
const row = (name, ...cells) => `<tr>${name}${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
const head = '<tr><th>sample</th><th>dose</th></tr>';
const named = `<table>${head}${row('<th scope="row">001</th>', 5)}${row('<th scope="row">002</th>', 10)}</table>`;
const merged = `<table>${head}${row('<td rowspan="2">MYC</td>', 5)}${row('', 10)}</table>`;
for (const table of [named, merged]) {
  console.log('tabletojson:', JSON.stringify(Tabletojson.convert(table)[0]));
  console.log('html-table-to-json:', JSON.stringify(toJson.parse(table).results[0]));
}
JS

expected="$(cat <<'SEEN'
tabletojson: [{"002":"5"},{"002":"10"}]
html-table-to-json: [{"002":"5"},{"002":"10"}]
tabletojson: [{"sample":"MYC","dose":"5"},{"sample":"MYC","dose":"10"}]
html-table-to-json: [{"sample":"MYC","dose":"5"},{"sample":"10"}]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "html-table-to-json@1.0.0, tabletojson@4.1.15, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
