#!/usr/bin/env bash
# Five animals are one observation, and without an intercept, the last variable is called Intercept.
# The summary of ml-regression-multivariate-linear counts the results of one observation for the observations, and names its last line Intercept,
# whether there is one or not. The weights are right. Guess: 5 observations, and X Variable 2.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-regression-multivariate-linear@2.0.4

cat >try.mjs <<'JS'
import Regression from 'ml-regression-multivariate-linear';
const doses = [[1, 2], [2, 1], [3, 4], [4, 3], [5, 6]];
const weights = doses.map(([first, second]) => [2 * first + 3 * second + (first % 2 ? 0.1 : -0.1)]);
for (const intercept of [true, false]) {
  const { summary } = new Regression(doses, weights, { intercept }).toJSON();
  const lines = summary.variables.map(({ coefficients, label }) => `${label} ${Math.round(coefficients[0])}`);
  console.log(`${intercept ? 'with' : 'without'} an intercept: ${summary.regressionStatistics.observations} observation, ${lines.join(', ')}`);
}
JS

expected="$(cat <<'SEEN'
with an intercept: 1 observation, X Variable 1 2, X Variable 2 3, Intercept 0
without an intercept: 1 observation, X Variable 1 2, Intercept 3
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-regression-multivariate-linear@2.0.4, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
