#!/usr/bin/env bash
# Five samples have three concentrations, and the third one belongs to the fifth.
# toArray (unless it is asked for with includeNulls) and orderBy of a data-forge column leave missing values out, while count counts them and a
# row keeps them: two columns no longer fit each other. A histogram counts a missing value among the lowest. Guess: five values, two missing.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . data-forge@1.10.5

cat >try.mjs <<'JS'
import forge from 'data-forge';
const rows = [10, null, 2, undefined, 100].map((dose, index) => ({ dose, id: index + 1 }));
const table = new forge.DataFrame(rows);
const [ids, doses] = ['id', 'dose'].map((name) => table.getSeries(name));
const zipped = ids.toArray().map((id, index) => `${id}: ${doses.toArray()[index] ?? 'missing'}`);
console.log('counted:', ids.count(), 'ids,', doses.count(), 'doses');
console.log('arrays: ', ids.toArray().length, 'ids,', doses.toArray().length, 'doses');
console.log('zipped: ', zipped.join(', '), 'where 3 has', rows[2].dose);
console.log('ordered:', doses.orderBy((dose) => dose).toArray().join(', '));
const classes = new forge.Series([7, null, 9]).frequency({ interval: 5, lower: 0, upper: 10 });
console.log('classes of 7, null and 9:', classes.toArray().map(({ count, lower, upper }) => `${lower} to ${upper} ${count}`).join(', '));
JS

expected="$(cat <<'SEEN'
counted: 5 ids, 5 doses
arrays:  5 ids, 3 doses
zipped:  1: 10, 2: 2, 3: 100, 4: missing, 5: missing where 3 has 2
ordered: 2, 10, 100
classes of 7, null and 9: 0 to 5 1, 5 to 10 2
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "data-forge@1.10.5, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
