#!/usr/bin/env bash
# After a join, one column holds the values of two tables.
# leftJoin of @tidyjs/tidy puts a column that both tables have but that is not joined by into one: matched rows have the right one's value, the
# others the left one's. dplyr, which it is modelled on, keeps both; pivotWider keeps the last replicate only. Guess: two columns, and an error.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @tidyjs/tidy@2.6.1

cat >try.mjs <<'JS'
import { leftJoin, mean, pivotWider, summarize, tidy } from '@tidyjs/tidy';
const grams = [{ id: 1, weight: 20_500 }, { id: 2, weight: 21_000 }, { id: 3, weight: 19_500 }];
const kilograms = [{ id: 1, weight: 20.5 }, { id: 3, weight: 19.5 }];
const joined = tidy(grams, leftJoin(kilograms, { by: 'id' }));
console.log('weights:', joined.map(({ weight }) => weight).join(', '), 'mean', tidy(joined, summarize({ mean: mean('weight') }))[0].mean.toFixed(1));
const replicates = [[1, 'wt', 10], [1, 'wt', 90], [1, 'ko', 50]].map(([plate, strain, value]) => ({ plate, strain, value }));
console.log('wide:', JSON.stringify(tidy(replicates, pivotWider({ namesFrom: 'strain', valuesFrom: 'value' }))));
JS

expected="$(cat <<'SEEN'
weights: 20.5, 21000, 19.5 mean 7013.3
wide: [{"plate":1,"wt":90,"ko":50}]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@tidyjs/tidy@2.6.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
