#!/usr/bin/env bash
# A smoothed curve jumps from 6.9 to 9 at its last point; a line that rises to 3 has its highest value at 2.97.
# spline-interpolator gives the last reading as it was measured, however smooth the curve is asked to be. It looks for the highest value
# at a hundred places, the last of which is not the end. Guess: no jump, and 3.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . spline-interpolator@1.0.0

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const Spline = createRequire(import.meta.url)('spline-interpolator');
const [hours, readings] = [[0, 1, 2, 3, 4, 5], [0, 3, 1, 6, 2, 9]];
for (const weight of [0.1, 0.001]) {
  const spline = new Spline(hours, readings, weight);
  const shown = [3, 4, 4.999, 5].map((hour) => `${hour} h ${spline.interpolate(hour).toFixed(2)}`);
  console.log(`weight of the readings ${weight}: ${shown.join(', ')}`);
}
const line = new Spline([0, 1, 2, 3], [0, 1, 2, 3]);
console.log(`a line that is ${line.interpolate(3)} at 3: highest value ${line.max().toFixed(2)}, range up to ${line.range()[1].toFixed(2)}`);
JS

expected="$(cat <<'SEEN'
weight of the readings 0.1: 3 h 4.05, 4 h 5.45, 4.999 h 7.02, 5 h 9.00
weight of the readings 0.001: 3 h 4.17, 4 h 5.51, 4.999 h 6.86, 5 h 9.00
a line that is 3 at 3: highest value 2.97, range up to 2.97
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "spline-interpolator@1.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
