#!/usr/bin/env bash
# pca-js 2.0.6 gives eigenvalues that are no variances: the sums of squares are divided by the number of columns, not of samples. Five
# samples with variances of 4.75 and 0.25 along their axes have 9.5 and 0.5; the same samples twice have twice as much, where a variance
# is nearly the same. The directions and the shares of the whole are right.
# Guess: an eigenvalue is the variance along its vector, for n or n - 1 samples.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . pca-js@2.0.6

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const PCA = createRequire(import.meta.url)('pca-js');
const samples = [[1, 2], [2, 3], [3, 5], [4, 4], [5, 6]];
function own(rows) {
  const mean = [0, 1].map((column) => rows.reduce((sum, row) => sum + row[column], 0) / rows.length);
  const product = (a, b) => rows.reduce((sum, row) => sum + (row[a] - mean[a]) * (row[b] - mean[b]), 0) / (rows.length - 1);
  const [xx, xy, yy] = [product(0, 0), product(0, 1), product(1, 1)];
  const root = Math.sqrt(((xx - yy) / 2) ** 2 + xy ** 2);
  return [(xx + yy) / 2 + root, (xx + yy) / 2 - root];
}
const shown = (values) => values.map((value) => value.toFixed(3)).join(' ');
for (const rows of [samples, [...samples, ...samples]]) {
  console.log(rows.length, 'samples:', shown(PCA.getEigenVectors(rows).map(({ eigenvalue }) => eigenvalue)), 'by definition:', shown(own(rows)));
}
JS

expected="$(cat <<'SEEN'
5 samples: 9.500 0.500 by definition: 4.750 0.250
10 samples: 19.000 1.000 by definition: 4.222 0.222
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "pca-js@2.0.6, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
