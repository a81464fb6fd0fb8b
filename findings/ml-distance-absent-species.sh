#!/usr/bin/env bash
# Two samples have no distance if a species is absent from both, not even a sample from itself.
# Canberra's, Clark's and other distances divide by the sum of both counts and make 0/0 of a shared zero, which tables of species and of taxa
# are full of; NaN then spreads to trees. R's dist leaves such terms out and SciPy takes them for 0. Guess: 0.833 and 0 with the zero as well.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-distance@5.0.0

cat >try.mjs <<'JS'
import { distance } from 'ml-distance';
for (const measure of ['canberra', 'clark', 'topsoe', 'jensenShannon', 'sorensen']) {
  const pairs = [[[3, 1], [1, 2]], [[3, 1, 0], [1, 2, 0]], [[3, 1, 0], [3, 1, 0]]];
  const [present, absent, itself] = pairs.map(([first, second]) => Number(distance[measure](first, second).toFixed(3)));
  console.log(`${measure}: ${present}, with an absent species ${absent}, from itself ${itself}`);
}
JS

expected="$(cat <<'SEEN'
canberra: 0.833, with an absent species NaN, from itself NaN
clark: 0.601, with an absent species NaN, from itself NaN
topsoe: 0.693, with an absent species NaN, from itself NaN
jensenShannon: 0.347, with an absent species NaN, from itself NaN
sorensen: 0.429, with an absent species 0.429, from itself 0
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-distance@5.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
