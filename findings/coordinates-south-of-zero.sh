#!/usr/bin/env bash
# A site half a degree south of the equator lies north of it.
# Both parsers take the sign from the number of degrees, and -0 has none; a letter S helps. coordinate-parser also reads decimal commas as
# minutes: 40,123 becomes 42.05, 200 km away. A sign belongs to the whole angle (ISO 6709). Guess: -0.5 and 40.123 from both.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . coordinate-parser@1.0.7 geo-coordinates-parser@1.7.4

cat >try.mjs <<'JS'
import Coordinates from 'coordinate-parser';
import { convert } from 'geo-coordinates-parser';
for (const text of ['-0 30 0, 10 0 0', '-1 30 0, 10 0 0', '0 30 0 S, 10 0 0 E', '40,123 -74,123']) {
  const first = new Coordinates(text);
  const second = convert(text);
  const angles = [first.getLatitude(), first.getLongitude(), second.decimalLatitude, second.decimalLongitude];
  const seen = angles.map((angle) => Number(angle.toFixed(4)));
  console.log(`${text}: coordinate-parser ${seen.slice(0, 2).join(' ')}; geo-coordinates-parser ${seen.slice(2).join(' ')}`);
}
JS

expected="$(cat <<'SEEN'
-0 30 0, 10 0 0: coordinate-parser 0.5 10; geo-coordinates-parser 0.5 10
-1 30 0, 10 0 0: coordinate-parser -1.5 10; geo-coordinates-parser -1.5 10
0 30 0 S, 10 0 0 E: coordinate-parser -0.5 10; geo-coordinates-parser -0.5 10
40,123 -74,123: coordinate-parser 42.05 -76.05; geo-coordinates-parser 40.123 -74.123
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "coordinate-parser@1.0.7, geo-coordinates-parser@1.7.4, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
