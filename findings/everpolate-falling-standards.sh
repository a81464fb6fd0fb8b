#!/usr/bin/env bash
# A sample between two standards has a concentration below zero.
# A dilution series stands from the strongest standard to the weakest. everpolate takes the points in any order, but finds the right pair of
# them only if they rise, and otherwise draws on a line that is far away, without an error. Guess: the same both ways.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . everpolate@0.0.3

cat >try.mjs <<'JS'
import everpolate from 'everpolate';
const concentrations = [1000, 500, 250, 125, 62.5];
const absorbances = [2.1, 1.3, 0.75, 0.42, 0.23];
for (const absorbance of [1.7, 0.6, 0.3]) {
  const falling = everpolate.linear(absorbance, absorbances, concentrations)[0];
  const rising = everpolate.linear(absorbance, absorbances.toReversed(), concentrations.toReversed())[0];
  console.log(`${absorbance}: ${falling.toFixed(1)} from falling standards, ${rising.toFixed(1)} from rising ones`);
}
JS

expected="$(cat <<'SEEN'
1.7: 750.0 from falling standards, 750.0 from rising ones
0.6: 62.5 from falling standards, 193.2 from rising ones
0.3: -125.0 from falling standards, 85.5 from rising ones
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "everpolate@0.0.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
