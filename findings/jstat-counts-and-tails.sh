#!/usr/bin/env bash
# The probability of 200 reads is NaN, and that of a z of -9 is 0.
# jStat's Poisson density overflows from 144 reads on, to Infinity and then NaN, and its normal distribution is exactly 0 below
# -8.3 or so, where the true value is 1.1e-19: adjusted p-values become 0. Guess: 0.028 and 1.1e-19, as its t distribution gives.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . jstat@1.9.6

cat >try.mjs <<'JS'
import jstat from 'jstat';
const { poisson, normal, studentt } = jstat.jStat ?? jstat;
for (const reads of [140, 150, 200]) console.log(`${reads} reads where ${reads} are expected:`, poisson.pdf(reads, reads).toFixed(3));
console.log('z of -8:', normal.cdf(-8, 0, 1).toExponential(0), ' z of -9:', normal.cdf(-9, 0, 1));
console.log('t of -40, 30 degrees:', studentt.cdf(-40, 30).toExponential(1));
JS

expected="$(cat <<'SEEN'
140 reads where 140 are expected: 0.034
150 reads where 150 are expected: Infinity
200 reads where 200 are expected: NaN
z of -8: 6e-16  z of -9: 0
t of -40, 30 degrees: 6.9e-28
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "jstat@1.9.6, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
