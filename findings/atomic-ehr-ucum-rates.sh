#!/usr/bin/env bash
# Cells frozen at one degree a minute are frozen at 273 degrees a minute.
# @atomic-ehr/ucum adds the offset of Celsius and Fahrenheit wherever they stand, so also in a rate, a slope or a difference per degree.
# Guess: a rate has no offset, and 1 Cel/min is 1 K/min; or an error, as it gives for the sum of two temperatures.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @atomic-ehr/ucum@0.2.5

cat >try.mjs <<'JS'
import { ucum } from '@atomic-ehr/ucum';
for (const [value, from, to] of [
  [25, 'Cel', 'K'],
  [1, 'Cel/min', 'K/min'],
  [1.6, 'Cel/s', 'K/s'],
  [2, '[degF]/h', 'K/h'],
  [1, 'mV/K', 'mV/Cel'],
  [4.2, 'J/(g.Cel)', 'J/(g.K)'],
]) {
  console.log(`${value} ${from} is ${ucum.convert(value, from, to).toFixed(2)} ${to}`);
}
JS

expected="$(cat <<'SEEN'
25 Cel is 298.15 K
1 Cel/min is 273.17 K/min
1.6 Cel/s is 274.75 K/s
2 [degF]/h is 256.48 K/h
1 mV/K is -272.15 mV/Cel
4.2 J/(g.Cel) is 4473.15 J/(g.K)
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@atomic-ehr/ucum@0.2.5, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
