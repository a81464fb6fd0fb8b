#!/usr/bin/env bash
# ml-savitzky-golay-generalized 5.0.0 takes an array of x, and with uneven steps smooths a straight line into another: 1, 3, 4, 7, 7.4 ...
# becomes 0.95, 2.89, 4.65, 6.28 ..., and its slope, which is 2 all along, is from 1.46 to 2.70. Each window is fitted as if its points were
# evenly spaced, and only scaled by the mean step.
# Guess: a polynomial fitted to the given x, which leaves a line as it is.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-savitzky-golay-generalized@5.0.0

cat >try.mjs <<'JS'
import { sgg } from 'ml-savitzky-golay-generalized';
const shown = (values) => [...values].map((value) => value.toFixed(2)).join(' ');
const even = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
const uneven = [0, 1, 1.5, 3, 3.2, 4, 6, 6.5, 8, 9];
for (const x of [even, uneven]) {
  const line = x.map((value) => 2 * value + 1);
  console.log('x', shown(x));
  console.log('line', shown(line));
  console.log('smoothed', shown(sgg(line, x, { windowSize: 5, derivative: 0, polynomial: 2 })));
  console.log('slope', shown(sgg(line, x, { windowSize: 5, derivative: 1, polynomial: 2 })));
}
JS

expected="$(cat <<'SEEN'
x 0.00 1.00 2.00 3.00 4.00 5.00 6.00 7.00 8.00 9.00
line 1.00 3.00 5.00 7.00 9.00 11.00 13.00 15.00 17.00 19.00
smoothed 1.00 3.00 5.00 7.00 9.00 11.00 13.00 15.00 17.00 19.00
slope 2.00 2.00 2.00 2.00 2.00 2.00 2.00 2.00 2.00 2.00
x 0.00 1.00 1.50 3.00 3.20 4.00 6.00 6.50 8.00 9.00
line 1.00 3.00 4.00 7.00 7.40 9.00 13.00 14.00 17.00 19.00
smoothed 0.95 2.89 4.65 6.28 7.62 9.57 12.11 14.69 16.94 18.91
slope 2.70 1.85 2.10 2.05 1.78 2.24 2.02 1.92 2.11 1.46
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-savitzky-golay-generalized@5.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
