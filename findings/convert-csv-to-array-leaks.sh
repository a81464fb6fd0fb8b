#!/usr/bin/env bash
# What one mouse was noted for is noted for those after it.
# convert-csv-to-array fills one object for all rows: cells that a row leaves out at its end are those of the row before. It does not know
# quotes, so that half of a text with a comma stands in every later row. 1E5, an id, is 1. Guess: undefined, one cell, the id as text.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . convert-csv-to-array@1.0.3

cat >try.mjs <<'JS'
import { convertCSVToArray } from 'convert-csv-to-array';
const read = (text) => convertCSVToArray(text, { separator: ',' }).slice(1);
const show = (title, rows) => console.log(`${title}:\n${rows.map((row) => `  ${JSON.stringify(row)}`).join('\n')}`);
show('short rows', read('mouse,weight,note\n1,20.5,bled\n2,21\n3\n4,19.5,\n'));
show('a quoted comma', read('mouse,note\n1,"bled, weak"\n2,\n3,well\n'));
show('ids', read('clone,hits\n1E5,2\n0x10,3\n007,4\n'));
JS

expected="$(cat <<'SEEN'
short rows:
  {"mouse":1,"weight":20.5,"note":"bled"}
  {"mouse":2,"weight":21,"note":"bled"}
  {"mouse":3,"weight":21,"note":"bled"}
  {"mouse":4,"weight":19.5,"note":""}
a quoted comma:
  {"mouse":1,"note":"\"bled","undefined":" weak\""}
  {"mouse":2,"note":"","undefined":" weak\""}
  {"mouse":3,"note":"well","undefined":" weak\""}
ids:
  {"clone":1,"hits":2}
  {"clone":0,"hits":3}
  {"clone":7,"hits":4}
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "convert-csv-to-array@1.0.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
