#!/usr/bin/env bash
# Seven stations that all measure 5 are interpolated as 0, and stations between 100 and 101 as 108.6.
# @sakitam-gis/kriging takes the variogram, which grows with the distance, where kriging has weights that fall with it, and knows no mean.
# It is right at the stations, which hides that. Far away it says 182. Guess: 5, and values between 100 and 101.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @sakitam-gis/kriging@0.1.0

cat >try.mjs <<'JS'
import kriging from '@sakitam-gis/kriging';
const x = [0, 10, 0, 10, 5, 3, 8];
const y = [0, 0, 10, 10, 5, 8, 2];
for (const readings of [[5, 5, 5, 5, 5, 5, 5], [100, 101, 100, 101, 100.5, 100.3, 100.8]]) {
  console.log('readings', readings.join(', '));
  for (const model of ['exponential', 'gaussian', 'spherical']) {
    const variogram = kriging.train(readings, x, y, model, 0, 100);
    const at = (column, row) => kriging.predict(column, row, variogram).toFixed(1);
    console.log(`${model}: at a station ${at(0, 0)}, between them ${at(6, 6)}, far away ${at(1000, 1000)}`);
  }
}
JS

expected="$(cat <<'SEEN'
readings 5, 5, 5, 5, 5, 5, 5
exponential: at a station 0.0, between them 0.0, far away 0.0
gaussian: at a station 0.0, between them 0.0, far away 0.0
spherical: at a station 0.0, between them 0.0, far away 0.0
readings 100, 101, 100, 101, 100.5, 100.3, 100.8
exponential: at a station 100.0, between them 108.6, far away 182.3
gaussian: at a station 100.0, between them 100.8, far away 137.5
spherical: at a station 100.0, between them 101.6, far away 137.1
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@sakitam-gis/kriging@0.1.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
