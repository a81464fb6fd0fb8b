#!/usr/bin/env bash
# A clinic at 51° 30' 0" north lies on the equator.
# dms-to-decimal takes no 0 for degrees, minutes or seconds, nor seconds from 59 to 60, and its answer then is the number 0: every place with
# whole minutes, or within a degree of Greenwich or the equator, is at 0. Guess: 51.5, and an error for what it cannot read.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . dms-to-decimal@0.0.6

cat >try.mjs <<'JS'
import { DMS2Decimal } from 'dms-to-decimal';
const places = [[51, 30, 15, 'N'], [51, 30, 0, 'N'], [40, 0, 30, 'N'], [0, 7, 39, 'W'], [33, 51, 59.5, 'S']];
for (const [degrees, minutes, seconds, side] of places) {
  const rule = (['S', 'W'].includes(side) ? -1 : 1) * (degrees + minutes / 60 + seconds / 3600);
  console.log(`${degrees}° ${minutes}' ${seconds}" ${side}: ${DMS2Decimal(degrees, minutes, seconds, side).toFixed(4)}, by the rule ${rule.toFixed(4)}`);
}
JS

expected="$(cat <<'SEEN'
51° 30' 15" N: 51.5042, by the rule 51.5042
51° 30' 0" N: 0.0000, by the rule 51.5000
40° 0' 30" N: 0.0000, by the rule 40.0083
0° 7' 39" W: 0.0000, by the rule -0.1275
33° 51' 59.5" S: 0.0000, by the rule -33.8665
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "dms-to-decimal@0.0.6, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
