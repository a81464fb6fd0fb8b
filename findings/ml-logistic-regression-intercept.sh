#!/usr/bin/env bash
# A dose that kills no cell is said to kill, since the model has no intercept.
# At a dose of 0 both answers are equally likely, whatever the data; above it there is one answer for all doses. A second column of ones
# mends it. With two columns of data, the line between the groups goes through 0 in the same way. Guess: a model with an intercept.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-logistic-regression@2.0.0 ml-matrix@6.15.1

cat >try.mjs <<'JS'
import LogisticRegression from 'ml-logistic-regression';
import { Matrix } from 'ml-matrix';
const doses = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const dead = Matrix.columnVector(doses.map((dose) => (dose > 5 ? 1 : 0)));
for (const [name, row] of Object.entries({ 'dose alone': (dose) => [dose], 'with a column of ones': (dose) => [dose, 1] })) {
  const model = new LogisticRegression({ numSteps: 100_000, learningRate: 5e-3 });
  model.train(new Matrix(doses.map(row)), dead);
  console.log(`${name}: ${model.predict(new Matrix(doses.map(row))).join(' ')}`);
}
console.log(`dead: ${dead.to1DArray().join(' ')}`);
JS

expected="$(cat <<'SEEN'
dose alone: 1 1 1 1 1 1 1 1 1 1
with a column of ones: 0 0 0 0 0 1 1 1 1 1
dead: 0 0 0 0 0 1 1 1 1 1
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-logistic-regression@2.0.0, ml-matrix@6.15.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
