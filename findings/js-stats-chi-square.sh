#!/usr/bin/env bash
# A chi-square test of a two by two table has the p-value 0, one of three genotypes 0.014 where it is 0.05.
# js-stats looks whether the degrees of freedom are even by reading them as a binary number: 1 becomes even, and 2, 4 and 10 become odd.
# Odd ones from 3 on are right. The values below are those that tables give for p = 0.05. Guess: 0.05 in each row.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . js-stats@1.0.5

cat >try.mjs <<'JS'
import stats from 'js-stats';
const limits = [[1, 3.841], [2, 5.991], [3, 7.815], [4, 9.488], [5, 11.07], [10, 18.307]];
for (const [degrees, value] of limits) {
  const p = 1 - new stats.ChiSquareDistribution(degrees).cumulativeProbability(value);
  console.log(`${degrees} degrees of freedom, ${value}: p = ${p.toFixed(3)}`);
}
JS

expected="$(cat <<'SEEN'
1 degrees of freedom, 3.841: p = 0.000
2 degrees of freedom, 5.991: p = 0.014
3 degrees of freedom, 7.815: p = 0.050
4 degrees of freedom, 9.488: p = 0.091
5 degrees of freedom, 11.07: p = 0.050
10 degrees of freedom, 18.307: p = 0.075
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "js-stats@1.0.5, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
