#!/usr/bin/env bash
# Standardized values have a mean, and a robust mean is that of the outlier.
# ml-stat's standardize divides by the standard deviation but does not take the mean away, and its center neither hands the values back nor
# changes them, unless it is asked to do so in place. robustMeanAndStdev begins with the plain mean. Guess: z-scores, and a mean near 10.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-stat@1.3.3

cat >try.mjs <<'JS'
import stat from 'ml-stat';
const { array } = stat;
const round = (values) => values?.map((value) => Number(value.toFixed(3))).join(' ');
const values = [10, 20, 30];
const standardized = array.standardize(values);
console.log('standardized:', round(standardized), 'of mean', array.mean(standardized));
console.log('centred:', round(array.center(values)), 'and', round(values));
array.center(values, true);
console.log('centred in place:', round(values));
const robust = array.robustMeanAndStdev([9, 10, 10, 11, 1000]);
console.log('robust mean of 9, 10, 10, 11 and 1000:', robust.mean, 'beside a median of', array.median([9, 10, 10, 11, 1000]));
JS

expected="$(cat <<'SEEN'
standardized: 1 2 3 of mean 2
centred: undefined and 10 20 30
centred in place: -10 0 10
robust mean of 9, 10, 10, 11 and 1000: 208 beside a median of 10
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-stat@1.3.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
