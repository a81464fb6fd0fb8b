#!/usr/bin/env bash
# Ten trees of ten say that a person is ill, which has a probability of 0.9.
# ml-random-forest adds up the votes from the second tree on. With `maxSamples`, each tree draws from the first rows only: in a
# table that is sorted by group, the second group is never seen.
# Guess: 1, and a sum of 1 over both groups; half of the rows, drawn from all.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-random-forest@2.1.0

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const { RandomForestClassifier } = createRequire(import.meta.url)('ml-random-forest');
const marker = [[1], [2], [3], [4], [11], [12], [13], [14]];
const ill = [0, 0, 0, 0, 1, 1, 1, 1];
const forest = (options) => {
  const trained = new RandomForestClassifier({ seed: 42, replacement: false, useSampleBagging: false, ...options });
  trained.train(marker, ill);
  return trained;
};
for (const nEstimators of [2, 10, 50]) {
  const trained = forest({ nEstimators });
  const votes = trained.predictionValues([[14]]).to2DArray()[0];
  const [well, sick] = [0, 1].map((label) => trained.predictProbability([[14]], label)[0].toFixed(3));
  console.log(`${votes.filter((vote) => vote === 1).length} of ${nEstimators} trees say ill: probability ${sick}, of being well ${well}`);
}
const bagging = { nEstimators: 20, useSampleBagging: true, noOOB: true };
console.log('all rows: ', forest(bagging).predict(marker).join(' '));
console.log('half of them:', forest({ ...bagging, maxSamples: 0.5 }).predict(marker).join(' '));
JS

expected="$(cat <<'SEEN'
2 of 2 trees say ill: probability 0.500, of being well 0.000
10 of 10 trees say ill: probability 0.900, of being well 0.000
50 of 50 trees say ill: probability 0.980, of being well 0.000
all rows:  0 0 0 0 1 1 1 1
half of them: 0 0 0 0 0 0 0 0
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-random-forest@2.1.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
