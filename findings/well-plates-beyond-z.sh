#!/usr/bin/env bash
# Row AA of a plate with 1536 wells is called [.
# Its rows are A to Z and AA to AF. well-plates names wells by the next characters of ASCII, and refuses to read AA1. Guess: AA1 and AF48.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . well-plates@6.0.3

cat >try.mjs <<'JS'
import { PositionFormat, WellPlate } from 'well-plates';
const plate = new WellPlate({ rows: 32, columns: 48, positionFormat: PositionFormat.LetterNumber });
for (const index of [0, 1247, 1248, 1344]) console.log(index, plate.getPosition(index, 'formatted'));
try {
  console.log('AA1', plate.getPosition('AA1', 'index'));
} catch ({ message }) {
  console.log('AA1', message);
}
JS

expected="$(cat <<'SEEN'
0 A1
1247 Z48
1248 [1
1344 ]1
AA1 invalid well code format. Must be a letter followed by a number
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "well-plates@6.0.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
