#!/usr/bin/env bash
# chemical-elements 2.3.3 gives selenium a mass of 78.9594 and molybdenum one of 95.9598, each the mean of its isotopes by the older shares
# of them, where the standard atomic weights are 78.971 and 95.95. Selenomethionine (C5H11NO2Se) so weighs 196.106 and not 196.119.
# Guess: the standard weights, as for carbon or iron, which agree.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . chemical-elements@2.3.3

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const { elements, elementsAndIsotopesObject } = createRequire(import.meta.url)('chemical-elements');
// The standard atomic weights of IUPAC.
const standard = { C: 12.011, N: 14.007, O: 15.999, Fe: 55.845, Zn: 65.38, Se: 78.971, Mo: 95.95, I: 126.90447 };
const mass = Object.fromEntries(elements.map((element) => [element.symbol, element.mass]));
for (const [symbol, weight] of Object.entries(standard)) console.log(symbol, mass[symbol].toFixed(4), weight, Math.abs(mass[symbol] - weight) < 0.005 ? 'agrees' : 'differs');
const { C, H, N, O, Se } = mass;
const { isotopes } = elementsAndIsotopesObject.Se;
console.log('the mean of its isotopes', isotopes.reduce((sum, isotope) => sum + isotope.mass * (isotope.abundance ?? 0), 0).toFixed(4));
console.log('selenomethionine', (5 * C + 11 * H + N + 2 * O + Se).toFixed(3), 'by the standard weights', (5 * 12.011 + 11 * 1.008 + 14.007 + 2 * 15.999 + 78.971).toFixed(3));
JS

expected="$(cat <<'SEEN'
C 12.0107 12.011 agrees
N 14.0067 14.007 agrees
O 15.9994 15.999 agrees
Fe 55.8451 55.845 agrees
Zn 65.3778 65.38 agrees
Se 78.9594 78.971 differs
Mo 95.9598 95.95 differs
I 126.9045 126.90447 agrees
the mean of its isotopes 78.9594
selenomethionine 196.106 by the standard weights 196.119
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "chemical-elements@2.3.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
