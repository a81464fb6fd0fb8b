#!/usr/bin/env bash
# A column of clone ids becomes half numbers, half text.
# With `dynamicTyping`, Papa Parse reads a cell of digits, E and digits as a number only while the number is below 2^53: of RIKEN's
# clone ids in one column some become numbers and others stay text, and leading zeros go. Guess: all or none.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . papaparse@5.7.1

cat >try.mjs <<'JS'
import Papa from 'papaparse';
const { data } = Papa.parse('clone\n0610009E02\n2310009E13\n1700001E04\n1700001P04\n', { header: true, dynamicTyping: true, skipEmptyLines: true });
for (const { clone } of data) console.log(typeof clone, clone);
JS

expected="$(cat <<'SEEN'
number 61000900
string 2310009E13
number 17000010000
string 1700001P04
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "papaparse@5.7.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
