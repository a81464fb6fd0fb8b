#!/usr/bin/env bash
# @neutrium/quantity 3.0.7 takes degC and degF for differences: 37 degC are 37 K, and 98.6 degF (37 °C) are 54.8 degC, without an error; a
# temperature is written tempC. A gallon is the British one and a pint the American, so eight pints are 0.83 gal.
# Guess: 310.15 K and 37 °C; eight pints in a gallon.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @neutrium/quantity@3.0.7

cat >try.mjs <<'JS'
import { Quantity } from '@neutrium/quantity';
for (const [amount, unit] of [['37 degC', 'K'], ['98.6 degF', 'degC'], ['37 tempC', 'tempK'], ['98.6 tempF', 'tempC'], ['8 pt', 'gal'], ['1 gal', 'L'], ['1 pt', 'L']]) {
  console.log(amount, '=', Number(Number(new Quantity(amount).to(unit).scalar).toPrecision(5)), unit);
}
JS

expected="$(cat <<'SEEN'
37 degC = 37 K
98.6 degF = 54.778 degC
37 tempC = 310.15 tempK
98.6 tempF = 37 tempC
8 pt = 0.83267 gal
1 gal = 4.5461 L
1 pt = 0.47318 L
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@neutrium/quantity@3.0.7, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
