#!/usr/bin/env bash
# A flat spectrum falls at both its ends.
# xyEquallySpaced of ml-spectra-processing, which makes spectra comparable, takes what lies before the first and after the last point for 0: in
# its usual variant the outer points lose an eighth of it or more. With slots they keep their height. Guess: a flat spectrum.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-spectra-processing@14.35.1

cat >try.mjs <<'JS'
import { xyEquallySpaced } from 'ml-spectra-processing';
const x = Array.from({ length: 11 }, (_, index) => index);
const flat = { x, y: x.map(() => 100) };
const rising = { x, y: x.map((value) => 100 + value) };
const show = (title, spectrum, options) => console.log(`${title}: ${[...xyEquallySpaced(spectrum, options).y].map((value) => value.toFixed(1)).join(' ')}`);
for (const numberOfPoints of [11, 6, 3]) show(`flat, ${numberOfPoints} points`, flat, { numberOfPoints });
show('rising, 11 points', rising, { numberOfPoints: 11 });
show('flat, 6 slots', flat, { numberOfPoints: 6, variant: 'slot' });
show('flat, 3 points between 2 and 8', flat, { from: 2, numberOfPoints: 3, to: 8 });
JS

expected="$(cat <<'SEEN'
flat, 11 points: 87.5 100.0 100.0 100.0 100.0 100.0 100.0 100.0 100.0 100.0 87.5
flat, 6 points: 75.0 100.0 100.0 100.0 100.0 75.0
flat, 3 points: 60.0 100.0 60.0
rising, 11 points: 87.6 101.0 102.0 103.0 104.0 105.0 106.0 107.0 108.0 109.0 96.1
flat, 6 slots: 100.0 100.0 100.0 100.0 100.0 100.0
flat, 3 points between 2 and 8: 100.0 100.0 100.0
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-spectra-processing@14.35.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
