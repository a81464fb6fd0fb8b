#!/usr/bin/env bash
# Of 3e-16 and 1e-20, the smaller p-value is the one that comes first.
# math.js compares numbers with a tolerance of 1e-15 that does not shrink with them. Below it all are equal, and equal to 0: min, max, sort,
# median and set functions go by that too. Guess: a relative tolerance in comparisons, and none in min or sort.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . mathjs@15.2.0

cat >try.mjs <<'JS'
import { equal, max, median, min, setDistinct, smaller, sort } from 'mathjs';
const values = [3e-16, 1e-20, 5e-16, 2e-18];
console.log('1e-20 < 3e-16:', smaller(1e-20, 3e-16), '| 1e-20 = 3e-16:', equal(1e-20, 3e-16), '| 3e-16 = 0:', equal(3e-16, 0));
console.log('min', min(values), 'max', max(values), 'median', median(values));
console.log('sorted:', sort(values).join(' '));
console.log('distinct:', setDistinct(values).join(' '));
console.log('by JavaScript:', Math.min(...values), Math.max(...values));
JS

expected="$(cat <<'SEEN'
1e-20 < 3e-16: false | 1e-20 = 3e-16: true | 3e-16 = 0: true
min 3e-16 max 3e-16 median 2.5100000000000004e-16
sorted: 3e-16 1e-20 5e-16 2e-18
distinct: 3e-16
by JavaScript: 1e-20 5e-16
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "mathjs@15.2.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
