#!/usr/bin/env bash
# The one gene that tells ill from healthy counts for nothing if it stands third.
# GaussianNB of ml-naivebayes looks at the first two values of a sample: it takes the length of a pair of its own for the number of features.
# Where the samples are one more than the features, it says that their features differ. Guess: 0 0 0 1 1 1, in any order.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-naivebayes@4.0.0

cat >try.mjs <<'JS'
import { GaussianNB } from 'ml-naivebayes';
// The third gene tells healthy (0) from ill (1); the other two are alike in both.
const genes = [[5, 7, 1], [6, 8, 2], [7, 9, 1.5], [5, 7, 91], [6, 8, 92], [7, 9, 91.5]];
const labels = [0, 0, 0, 1, 1, 1];
function predict(rows, wanted = rows) {
  const model = new GaussianNB();
  model.train(rows, labels);
  try {
    return model.predict(wanted).join(' ');
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
}
console.log('the gene stands third:', predict(genes));
console.log('the gene stands first:', predict(genes.map((row) => [...row].reverse())));
console.log('three of the samples:', predict(genes, genes.slice(3)));
console.log('four of the samples:', predict(genes, genes.slice(2)));
JS

expected="$(cat <<'SEEN'
the gene stands third: 0 0 0 0 0 0
the gene stands first: 0 0 0 1 1 1
three of the samples: 0 0 0
four of the samples: RangeError: the dataset must have the same features as the training set
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-naivebayes@4.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
