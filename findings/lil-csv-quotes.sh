#!/usr/bin/env bash
# lil-csv 1.4.6 loses the quotes in a value: "the ""blue"" tube" is read as the blue tube. It writes them as \", which spreadsheets and
# RFC 4180 do not know: the value ends there for them, and a comma after it begins a column.
# Guess: doubled quotes, read and written.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . lil-csv@1.4.6

cat >try.mjs <<'JS'
import { generate, parse } from 'lil-csv';
console.log(JSON.stringify(parse('id,note\n7,"the ""blue"" tube"\n')));
console.log(generate([['id', 'note'], ['7', 'the "blue" tube, cold']]));
JS

expected="$(cat <<'SEEN'
[{"id":"7","note":"the blue tube"}]
id,note
7,"the \"blue\" tube, cold"
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "lil-csv@1.4.6, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
