#!/usr/bin/env bash
# No geohash covers Fiji.
# In a bounding box across the date line, the west is larger than the east. bboxes of ngeohash finds none of the cells of such a box, without an
# error, where its neighbours cross the line well. Guess: the cells of both parts.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ngeohash@0.6.4

cat >try.mjs <<'JS'
import geohash from 'ngeohash';
const cells = (west, east) => geohash.bboxes(-19, west, -16, east, 3).length;
console.log('177° to 180° and -180° to -178°:', cells(177, 180), 'and', cells(-180, -178), 'cells');
console.log('177° to -178°:', cells(177, -178), 'cells');
const suva = geohash.encode(-18.1, 178.4, 3);
const others = geohash.neighbors(geohash.encode(-18.1, 179.99, 3));
console.log('the cell of Suva:', suva, 'and those beside 179.99°:', others.join(' '));
JS

expected="$(cat <<'SEEN'
177° to 180° and -180° to -178°: 9 and 6 cells
177° to -178°: 0 cells
the cell of Suva: ruy and those beside 179.99°: rvp 2j0 2hb 2h8 rux ruw ruy rvn
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ngeohash@0.6.4, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
