#!/usr/bin/env bash
# Simulated read counts of a mean of 2 have a mean of 5.
# rnbinom of probability-distributions, which is named after R's, counts the trials before the last hit instead of the failures: with size 4
# each count is 3 too large, none is below 3, and a gene that is never read cannot be. Guess: the mean that it was asked for, with zeros.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . probability-distributions@0.9.1

cat >try.mjs <<'JS'
import distributions from 'probability-distributions';
// The same numbers in each run: a linear congruential generator takes the place of the random one.
let state = 20260131;
distributions.prng = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
};
for (const [size, mean] of [[4, 2], [4, 10], [1, 2]]) {
  const counts = distributions.rnbinom(20_000, size, undefined, mean);
  const seen = counts.reduce((sum, count) => sum + count) / counts.length;
  console.log(`size ${size}, mean ${mean}: seen ${seen.toFixed(1)}, lowest ${Math.min(...counts)}, zeros ${counts.filter((count) => count === 0).length > 0}`);
}
JS

expected="$(cat <<'SEEN'
size 4, mean 2: seen 5.0, lowest 3, zeros false
size 4, mean 10: seen 13.1, lowest 3, zeros false
size 1, mean 2: seen 2.0, lowest 0, zeros true
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "probability-distributions@0.9.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
