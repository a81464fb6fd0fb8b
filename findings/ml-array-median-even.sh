#!/usr/bin/env bash
# The median of 1 and 9 is 1.
# ml-array-median picks the lower of the two middle values; its documentation shows five values only. Guess: their mean, as R, NumPy and
# Excel have it.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-array-median@2.0.0

cat >try.mjs <<'JS'
import median from 'ml-array-median';
for (const values of [[1, 5, 3, 2, 4], [1, 9], [1, 2, 3, 4], [0, 0, 7, 8]]) console.log(values.join(' '), '->', median(values));
JS

expected="$(cat <<'SEEN'
1 5 3 2 4 -> 3
1 9 -> 1
1 2 3 4 -> 2
0 0 7 8 -> 0
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-array-median@2.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
