#!/usr/bin/env bash
# Two components explain all of the variance, whatever the data.
# With NIPALS, ml-pca computes only as many components as it is asked for and gives each its share of their sum instead of the total variance.
# One component explains 100%, and a plot's axis says 87% where SVD says 84%. Guess: the shares that SVD gives.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-pca@4.1.1

cat >try.mjs <<'JS'
import pca from 'ml-pca';
const marks = [[40, 50, 60], [50, 70, 60], [80, 70, 90], [50, 60, 80]];
const shares = (options) => new pca.PCA(marks, options).getExplainedVariance().map((share) => `${(100 * share).toFixed(1)}%`).join(' ');
console.log('SVD:', shares({ method: 'SVD' }));
for (const nCompNIPALS of [3, 2, 1]) console.log(`NIPALS, ${nCompNIPALS}:`, shares({ method: 'NIPALS', nCompNIPALS }));
const total = new pca.PCA(marks, { method: 'covarianceMatrix' }).getEigenvalues().reduce((sum, value) => sum + value);
console.log('total variance:', total.toFixed(2));
JS

expected="$(cat <<'SEEN'
SVD: 84.3% 12.7% 3.0%
NIPALS, 3: 84.3% 12.7% 3.0%
NIPALS, 2: 86.9% 13.1%
NIPALS, 1: 100.0%
total variance: 616.67
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-pca@4.1.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
