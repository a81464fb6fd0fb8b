#!/usr/bin/env bash
# Four replicates of 10 are outliers beside one of 30, and so is that one: none is left, and the mean is NaN.
# iqr() keeps what lies within 1.5 ranges of the quartiles, without the limits themselves. Where both quartiles are equal, as for counts
# or readings of few digits, that is nothing. Guess: four of 10, and a mean of 10.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . fast-stats@0.0.7

cat >try.mjs <<'JS'
import { Stats } from 'fast-stats';
for (const values of [[9, 10, 10, 11, 30], [10, 10, 10, 10, 30], [10, 10, 10, 10, 10]]) {
  const kept = new Stats().push(...values).iqr();
  console.log(`${values}: ${kept.length} kept, mean ${kept.amean()}`);
}
JS

expected="$(cat <<'SEEN'
9,10,10,11,30: 4 kept, mean 10
10,10,10,10,30: 0 kept, mean NaN
10,10,10,10,10: 0 kept, mean NaN
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "fast-stats@0.0.7, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
