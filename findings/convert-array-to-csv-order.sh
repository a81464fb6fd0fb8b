#!/usr/bin/env bash
# A patient's dose is the age where its object has its keys in another order.
# convert-array-to-csv takes the first object's keys for the header and writes the values of the others in their own order. A missing value
# moves all those after it. A header that is given changes nothing of it. Guess: each value below its name.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . convert-array-to-csv@2.0.0

cat >try.mjs <<'JS'
import { convertArrayToCSV } from 'convert-array-to-csv';
const rows = [{ id: 1, age: 54, dose: 20 }, { id: 2, dose: 10, age: 61 }, { id: 3, dose: 40 }];
console.log(convertArrayToCSV(rows).trim());
console.log(convertArrayToCSV(rows, { header: ['id', 'age', 'dose'] }) === convertArrayToCSV(rows) ? 'the same with a header' : 'another with a header');
JS

expected="$(cat <<'SEEN'
id,age,dose
1,54,20
2,10,61
3,40
the same with a header
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "convert-array-to-csv@2.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
