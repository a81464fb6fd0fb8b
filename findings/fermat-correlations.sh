#!/usr/bin/env bash
# Three readings and themselves have a correlation of 0.67.
# correlation of @mathigon/fermat divides a covariance over n by standard deviations over n - 1: no correlation of n readings is above
# (n-1)/n. Guess: 1.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @mathigon/fermat@1.1.24

cat >try.mjs <<'JS'
import { correlation, covariance, variance } from '@mathigon/fermat';
for (const values of [[1, 2], [1, 2, 3], [1, 2, 3, 4, 5], Array.from({ length: 100 }, (_, index) => index)])
  console.log(`${values.length} readings and themselves: correlation ${correlation(values, values).toFixed(2)}`);
const [readings, falling] = [[1, 2, 3, 4], [40, 30, 20, 10]];
console.log('4 readings and falling ones:', correlation(readings, falling).toFixed(2));
console.log(`of 1, 2, 3, 4: variance ${variance(readings).toFixed(2)}, covariance with themselves ${covariance(readings, readings).toFixed(2)}`);
JS

expected="$(cat <<'SEEN'
2 readings and themselves: correlation 0.50
3 readings and themselves: correlation 0.67
5 readings and themselves: correlation 0.80
100 readings and themselves: correlation 0.99
4 readings and falling ones: -0.75
of 1, 2, 3, 4: variance 1.67, covariance with themselves 1.25
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@mathigon/fermat@1.1.24, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
