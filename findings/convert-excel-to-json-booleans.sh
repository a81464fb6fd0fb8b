#!/usr/bin/env bash
# convert-excel-to-json 1.7.0 gives the cells TRUE and FALSE as the texts "TRUE" and "FALSE", of which both count as true, where numbers and
# dates keep their types; blanks around a text are gone, a cell of blanks alone keeps them.
# Guess: true and false, and the text as it is.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . convert-excel-to-json@1.7.0 xlsx@0.18.5

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
const convert = require('convert-excel-to-json');
const { utils, write } = require('xlsx');
const sheet = utils.aoa_to_sheet([['id', 'ill', 'dose', 'note'], ['P1', true, 0, ' lot 7 '], ['P2', false, 1.5, '  ']]);
const source = write({ SheetNames: ['Sheet'], Sheets: { Sheet: sheet } }, { type: 'buffer', bookType: 'xlsx' });
for (const row of convert({ source, header: { rows: 1 }, columnToKey: { '*': '{{columnHeader}}' } }).Sheet) console.log(JSON.stringify(row));
JS

expected="$(cat <<'SEEN'
{"id":"P1","ill":"TRUE","dose":0,"note":"lot 7"}
{"id":"P2","ill":"FALSE","dose":1.5,"note":"  "}
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "convert-excel-to-json@1.7.0, xlsx@0.18.5, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
