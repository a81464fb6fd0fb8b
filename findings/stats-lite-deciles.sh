#!/usr/bin/env bash
# The first decile of 10, 20 and 30 is 8, that of 1 and 100 is -29.
# percentile of stats-lite takes what lies below half a step from the lowest value from the line through the two lowest ones; at the upper end
# it stops at the highest. Titres and concentrations get values below zero. Guess: the lowest value.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . stats-lite@2.2.0

cat >try.mjs <<'JS'
import stats from 'stats-lite';
for (const values of [[10, 20, 30], [1, 100], [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]])
  console.log(`${values.join(', ')}: first decile ${stats.percentile(values, 0.1).toFixed(1)}, last decile ${stats.percentile(values, 0.9).toFixed(1)}`);
console.log('5% of 0.2, 0.9 and 1.2 mM lie below', stats.percentile([0.2, 0.9, 1.2], 0.05).toFixed(3));
JS

expected="$(cat <<'SEEN'
10, 20, 30: first decile 8.0, last decile 30.0
1, 100: first decile -28.7, last decile 100.0
10, 20, 30, 40, 50, 60, 70, 80, 90, 100: first decile 15.0, last decile 95.0
5% of 0.2, 0.9 and 1.2 mM lie below -0.045
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "stats-lite@2.2.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
