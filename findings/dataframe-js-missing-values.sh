#!/usr/bin/env bash
# The lowest of 9, 3 and a missing value is 0.
# The mean leaves missing values out; the lowest and the highest value take them for 0. The highest of -1, -9 and a missing value is 0 too,
# a fold change that no gene has. Guess: left out by all three, as in pandas and in R with na.rm.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . dataframe-js@1.4.4

cat >try.mjs <<'JS'
import dataframe from 'dataframe-js';
function seen(values) {
  const { stat } = new dataframe.DataFrame(values.map((value) => [value]), ['value']);
  return `mean ${stat.mean('value')}, lowest ${stat.min('value')}, highest ${stat.max('value')}`;
}
for (const values of [[9, 3, null], [-1, -9, null], [9, 3, undefined], [9, 3, ''], [9, 3]]) console.log(JSON.stringify(values), seen(values));
JS

expected="$(cat <<'SEEN'
[9,3,null] mean 6, lowest 0, highest 9
[-1,-9,null] mean -5, lowest -9, highest 0
[9,3,null] mean 6, lowest 3, highest 9
[9,3,""] mean 6, lowest 0, highest 9
[9,3] mean 6, lowest 3, highest 9
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "dataframe-js@1.4.4, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
