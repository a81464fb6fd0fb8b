#!/usr/bin/env bash
# The further two places are apart, the more alike they are.
# BesselK of lib-r-math.js, by its guide the modified Bessel function of the third kind, has the values of BesselI, which grow where K falls. The
# correlation of places in a Matérn model of disease rates is made of it. Guess: K, as R has it.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . lib-r-math.js@2.0.3

cat >try.mjs <<'JS'
import library from 'lib-r-math.js';
const { BesselI, BesselK } = library;
// K by its integral over exp(-x cosh t) cosh(nu t).
function byTheIntegral(x, nu) {
  const step = 1e-3;
  let sum = 0;
  for (let t = step / 2; t < 12; t += step) sum += Math.exp(-x * Math.cosh(t)) * Math.cosh(nu * t) * step;
  return sum;
}
for (const [x, nu] of [[1, 0], [1, 1], [3, 1]]) {
  const seen = [BesselK(x, nu), BesselI(x, nu), byTheIntegral(x, nu)].map((value) => value.toFixed(4));
  console.log(`x ${x}, nu ${nu}: BesselK ${seen[0]}, BesselI ${seen[1]}, by the integral ${seen[2]}`);
}
const correlations = [0.1, 1, 2, 3].map((distance) => `${distance} km ${(distance * BesselK(distance, 1)).toFixed(2)} for ${(distance * byTheIntegral(distance, 1)).toFixed(2)}`);
console.log('correlation at', correlations.join(', '));
JS

expected="$(cat <<'SEEN'
x 1, nu 0: BesselK 1.2661, BesselI 1.2661, by the integral 0.4210
x 1, nu 1: BesselK 0.5652, BesselI 0.5652, by the integral 0.6019
x 3, nu 1: BesselK 3.9534, BesselI 3.9534, by the integral 0.0402
correlation at 0.1 km 0.01 for 0.99, 1 km 0.57 for 0.60, 2 km 3.18 for 0.28, 3 km 11.86 for 0.12
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "lib-r-math.js@2.0.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
