#!/usr/bin/env bash
# @teselagen/sequence-utils 0.3.42 gives a primer of 24 bases 65.9 °C in 50 mM of salt, where its own source's formula for salt
# (Owczarzy 2004) gives 57.9: the 9.4e-6 of the formula is 9.4 to the power of -6 in it. calculateTm with the "sugimoto" table gives
# a primer 45.4 °C and its reverse complement, which is the same duplex, 52.5.
# Guess: a correction for salt as in the paper it names; nearest-neighbour values that are the same for both strands.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @teselagen/sequence-utils@0.3.42

cat >try.mjs <<'JS'
import { calculateNebTm, calculateTm, getReverseComplementSequenceString as reverse } from '@teselagen/sequence-utils';
const primer = 'AGCGGATAACAATTTCACACAGGA';
// The correction for salt of Owczarzy 2004, from the temperature at 1 M.
function corrected(sequence, salt) {
  const share = sequence.replace(/[AT]/g, '').length / sequence.length;
  const log = Math.log(salt);
  const shift = (4.29 * share - 3.95) * 1e-5 * log + 9.4e-6 * log ** 2;
  return 1 / (1 / (calculateNebTm(sequence, { monovalentCationConc: 0 }) + 273.15) + shift) - 273.15;
}
for (const salt of [0.05, 0.15]) {
  const found = calculateNebTm(primer, { monovalentCationConc: salt });
  console.log(`${salt * 1000} mM of salt: ${found.toFixed(1)} °C, by the formula ${corrected(primer, salt).toFixed(1)} °C`);
}
for (const type of ['breslauer', 'sugimoto', 'unified']) {
  console.log(`${type}: ${calculateTm(primer, { type }).toFixed(1)} °C, its complement ${calculateTm(reverse(primer), { type }).toFixed(1)} °C`);
}
JS

expected="$(cat <<'SEEN'
50 mM of salt: 65.9 °C, by the formula 57.9 °C
150 mM of salt: 69.6 °C, by the formula 66.2 °C
breslauer: 67.3 °C, its complement 67.3 °C
sugimoto: 45.4 °C, its complement 52.5 °C
unified: 48.1 °C, its complement 48.1 °C
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@teselagen/sequence-utils@0.3.42, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
