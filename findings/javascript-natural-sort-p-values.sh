#!/usr/bin/env bash
# A p-value of 0.9 comes before one of 1e-13, and a dose of 0.5 µM before one of 0.25 µM.
# A number that begins with 0 is compared as text with others, so that 0.9 < 1e-13, and with a unit behind it each side of the point is a
# number of its own. Its README sorts floats and scientific notation, none of them below 1. Guess: by their values.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . javascript-natural-sort@0.7.1

cat >try.mjs <<'JS'
import naturalSort from 'javascript-natural-sort';
const lists = [['1.5e7', '1.5e3', '1.5e5'], ['0.5', '0.25', '0.125'], ['0.9', '1e-13', '0.04', '2.5e-4']];
lists.push(['10.5 µM', '2.5 µM'], ['0.5 µM', '0.25 µM', '0.125 µM'], ['2.5 µM', '2.25 µM']);
for (const list of lists) console.log([...list].sort(naturalSort).join(' < '));
JS

expected="$(cat <<'SEEN'
1.5e3 < 1.5e5 < 1.5e7
0.125 < 0.25 < 0.5
2.5e-4 < 0.04 < 0.9 < 1e-13
2.5 µM < 10.5 µM
0.5 µM < 0.25 µM < 0.125 µM
2.5 µM < 2.25 µM
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "javascript-natural-sort@0.7.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
