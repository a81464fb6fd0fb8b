#!/usr/bin/env bash
# Concentrations with decimal commas are places on the Earth, and "<5" is 5.
# tableschema takes a column of 1,2 and 3,4 for longitudes and latitudes. With comma and group character declared, it makes commas points
# before it drops the points between thousands. A column with units loses the sign of a limit as well. Guess: text or numbers; 12.5; an
# error for "<5".
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . tableschema@1.12.6

cat >try.mjs <<'JS'
import { Field, Schema } from 'tableschema';
const schema = new Schema();
schema.infer([['A1', '1,2'], ['A2', '3,4']], { headers: ['sample', 'mM'] });
console.log('inferred:', schema.fields.map(({ name, type }) => `${name} ${type}`).join(', '));
console.log('read:', JSON.stringify(schema.castRow(['A1', '1,2'])));
const german = new Field({ name: 'cells', type: 'number', decimalChar: ',', groupChar: '.' });
for (const text of ['12,5', '1.234', '1.234,5']) console.log('declared:', text, german.castValue(text));
const withUnits = new Field({ name: 'ng_ml', type: 'number', bareNumber: false });
for (const text of ['5 ng/ml', '<5 ng/ml', '<5']) console.log('with units:', text, withUnits.castValue(text));
JS

expected="$(cat <<'SEEN'
inferred: sample string, mM geopoint
read: ["A1",[1,2]]
declared: 12,5 125
declared: 1.234 1234
declared: 1.234,5 12345
with units: 5 ng/ml 5
with units: <5 ng/ml 5
with units: <5 5
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "tableschema@1.12.6, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
