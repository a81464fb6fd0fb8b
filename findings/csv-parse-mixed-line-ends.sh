#!/usr/bin/env bash
# A table with a CRLF header and LF rows becomes one row.
# The first line end decides for all lines. `relax_column_count` then hides it: two rows of two cells come back as one row of three,
# with line ends inside of its cells. Instruments that write the header by another routine than the rows make such files.
# Guess: each line ends as it does.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . csv-parse@7.0.3

cat >try.mjs <<'JS'
import { parse } from 'csv-parse/sync';
console.log(JSON.stringify(parse('well,od\r\nA1,0.2\nA2,0.3\n', { relax_column_count: true })));
console.log(JSON.stringify(parse('well,od\r\nA1,0.2\nA2,0.3\n', { relax_column_count: true, record_delimiter: ['\r\n', '\n'] })));
JS

expected="$(cat <<'SEEN'
[["well","od"],["A1","0.2\nA2","0.3\n"]]
[["well","od"],["A1","0.2"],["A2","0.3"]]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "csv-parse@7.0.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
