#!/usr/bin/env bash
# A person who is not infected is one of whom it is not known, and a column that comes later is gone.
# csv-stringify, and objects-to-csv with it, write false as an empty cell like null, true as 1, and a date as milliseconds. A table has the
# columns of its first object alone. Guess: false and true, ISO 8601, and an error for another column.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . csv-stringify@6.9.0 objects-to-csv@1.3.6

cat >try.mjs <<'JS'
import { stringify } from 'csv-stringify/sync';
import ObjectsToCsv from 'objects-to-csv';
const people = [{ id: 1, infected: true, seen: new Date('2026-12-01T09:30:00Z') }, { id: 2, infected: false }, { id: 3, infected: null, dose: 5 }];
console.log(stringify(people, { header: true }).trim());
console.log(stringify(people, { header: true }) === (await new ObjectsToCsv(people).toString()));
JS

expected="$(cat <<'SEEN'
id,infected,seen
1,1,1796117400000
2,,
3,,
true
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "csv-stringify@6.9.0, objects-to-csv@1.3.6, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
