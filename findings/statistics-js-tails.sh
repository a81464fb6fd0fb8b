#!/usr/bin/env bash
# The stronger an effect, the larger its p-value; empty cells count as zeros.
# statistics.js sums a series of 25 terms for the normal distribution, which fails beyond a z of 4: two groups of 100 that do not
# overlap have a p-value of 1 in the Mann-Whitney test. The mean counts an empty cell as 0, where the correlation leaves it out.
# Guess: 2e-34 for 100, and always smaller with more; a mean of 3.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . statistics.js@1.0.0

cat >try.mjs <<'JS'
import Statistics from 'statistics.js';
for (const size of [5, 10, 20, 50, 100]) {
  const rows = Array.from({ length: size }, (_, i) => [{ group: 'control', count: i }, { group: 'drug', count: size + i }]).flat();
  const { zScore, pTwoTailed } = new Statistics(rows, { group: 'nominal', count: 'ordinal' }).mannWhitneyU('group', 'count');
  console.log(`${size} against ${size}, all higher: z ${zScore.toFixed(1)}, p ${pTwoTailed.toPrecision(2)}`);
}
const cells = [1, 3, 5, null, ''].map((dose, i) => ({ dose, effect: i }));
const table = new Statistics(cells, { dose: 'metric', effect: 'metric' });
const { missings } = table.correlationCoefficient('dose', 'effect');
console.log('mean of 1, 3, 5 and two empty cells:', table.mean('dose'), ' missing in the correlation:', missings);
JS

expected="$(cat <<'SEEN'
5 against 5, all higher: z -2.6, p 0.0090
10 against 10, all higher: z -3.8, p 0.00016
20 against 20, all higher: z -5.4, p 0.0062
50 against 50, all higher: z -8.6, p 0.98
100 against 100, all higher: z -12.2, p 1.0
mean of 1, 3, 5 and two empty cells: 1.8  missing in the correlation: 2
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "statistics.js@1.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
