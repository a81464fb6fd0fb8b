#!/usr/bin/env bash
# In a smoothed dose-response of five doses, the highest dose has the value of the one below.
# With few points, the first pass goes through each of them. The robust passes of @stdlib/stats-lowess then take a residual of 1e-15 for an
# outlier, because the others are 0, and the point loses its weight; R stops there. With nsteps of 0 all is right. Guess: points on a line
# stay on it.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @stdlib/stats-lowess@0.2.2

cat >try.mjs <<'JS'
import lowess from '@stdlib/stats-lowess';
const numbers = (values) => values.map((value) => Number(value.toFixed(6))).join(' ');
for (const count of [4, 5, 6, 7, 8]) {
  const doses = Array.from({ length: count }, (_, index) => index + 1);
  console.log(count, 'doses:', numbers(lowess(doses, doses.map((dose) => 10 * dose)).y));
}
const rise = [[1, 2, 3, 4, 5], [10, 20, 30, 40, 90]];
console.log('a late rise:', numbers(lowess(...rise).y));
console.log('without robust passes:', numbers(lowess(...rise, { nsteps: 0 }).y));
JS

expected="$(cat <<'SEEN'
4 doses: 10 20 30 40
5 doses: 10 20 30 40 40
6 doses: 10 20 30 40 40 40
7 doses: 10 20 30 40 50 50 50
8 doses: 10 20 30 40 50 60 70 80
a late rise: 10 20 30 40 40
without robust passes: 10 20 30 40 90
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@stdlib/stats-lowess@0.2.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
