#!/usr/bin/env bash
# A drug with a half-life of 1.39 h, measured without any error, has one of 1.5 h if it is measured every two hours.
# exponential-regression fits the curve to its areas, which it takes from straight lines between the readings. The rate it finds is
# 2 tanh(c h / 2) / h for readings h apart. Readings in another order give any rate. Guess: the curve on which they lie.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . exponential-regression@1.0.2

cat >try.mjs <<'JS'
import { ExpReg } from 'exponential-regression';
const halfLife = (hours) => {
  const { c } = ExpReg.solve(hours, hours.map((hour) => 2 + 3 * Math.exp(-0.5 * hour)));
  return (Math.LN2 / -c).toFixed(2);
};
console.log('true half-life', (Math.LN2 / 0.5).toFixed(2));
for (const step of [0.1, 1, 2, 4]) console.log(`every ${step} h: ${halfLife(Array.from({ length: 9 }, (_, index) => index * step))}`);
console.log('every hour, in another order:', halfLife([4, 0, 8, 1, 5, 3, 7, 2, 6]));
JS

expected="$(cat <<'SEEN'
true half-life 1.39
every 0.1 h: 1.39
every 1 h: 1.42
every 2 h: 1.50
every 4 h: 1.82
every hour, in another order: 52.54
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "exponential-regression@1.0.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
