#!/usr/bin/env bash
# If one value of one sample is missing, four of five samples are not in the tree, and the fifth one is there twice.
# @greenelab/hclust joins the two clusters at the smallest distance. No distance to a NaN is smaller than another, so that it then joins a
# cluster with itself, and drops the one beside it. Guess: the sample comes last, or all distances to it are NaN.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @greenelab/hclust@0.0.1

cat >try.mjs <<'JS'
import { clusterData } from '@greenelab/hclust';
const samples = ['control 1', 'control 2', 'treated 1', 'treated 2', 'treated 3'];
function show(name, data) {
  const { order } = clusterData({ data, onProgress: () => {} });
  console.log(`${name}: ${order.map((index) => samples[index]).join(', ')}`);
}
show('all values', [[1, 2], [1.1, 2.1], [5, 6], [5.2, 6.1], [5.1, 6.3]]);
show('one value missing', [[1, 2], [1.1, 2.1], [5, 6], [5.2, NaN], [5.1, 6.3]]);
show('another one missing', [[1, NaN], [1.1, 2.1], [5, 6], [5.2, 6.1], [5.1, 6.3]]);
JS

expected="$(cat <<'SEEN'
all values: control 1, control 2, treated 3, treated 1, treated 2
one value missing: treated 2, treated 2
another one missing: control 1, control 1
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@greenelab/hclust@0.0.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
