#!/usr/bin/env bash
# The mean of 10, 9 and 2 is 364, and a missing value counts as 0.
# A column of text from a file is joined, not added: "1092" by three. A NULL that was inserted into a table counts for AVG and COUNT, and
# IS NULL does not find it; in an array it is treated as ISO 9075 wants. Guess: 7; a mean of 5 from one value, and the row with the NULL.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . alasql@4.19.1

cat >try.mjs <<'JS'
import alasql from 'alasql';
console.log('text:', JSON.stringify(alasql('SELECT AVG(dose) AS mean FROM ?', [[{ dose: '10' }, { dose: '9' }, { dose: '2' }]])));
const database = new alasql.Database();
database.exec('CREATE TABLE doses (id STRING, dose FLOAT)');
database.exec('INSERT INTO doses VALUES ("a", 5), ("b", NULL)');
console.log('table:', JSON.stringify(database.exec('SELECT AVG(dose) AS mean, COUNT(dose) AS n FROM doses')));
console.log('missing:', JSON.stringify(database.exec('SELECT id FROM doses WHERE dose IS NULL')));
const rows = [{ id: 'a', dose: 5 }, { id: 'b', dose: null }];
console.log('array:', JSON.stringify(alasql('SELECT AVG(dose) AS mean, COUNT(dose) AS n FROM ?', [rows])));
console.log('missing:', JSON.stringify(alasql('SELECT id FROM ? WHERE dose IS NULL', [rows])));
JS

expected="$(cat <<'SEEN'
text: [{"mean":364}]
table: [{"mean":2.5,"n":2}]
missing: []
array: [{"mean":5,"n":1}]
missing: [{"id":"b"}]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "alasql@4.19.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
