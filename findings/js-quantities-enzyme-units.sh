#!/usr/bin/env bash
# A unit of enzyme is ten million times too weak.
# One unit (U) is a micromole per minute, 16.67 nanokatal. js-quantities, whose unit it is as "enzUnit", has 16.667e-16 katal.
# Guess: 1 U is 1 µmol/min, as the neighbouring units of amount and time are right.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . js-quantities@1.8.0

cat >try.mjs <<'JS'
import Qty from 'js-quantities';
const units = [['1 kat', 'mol/s'], ['1 umol/min', 'nkat'], ['1 U', 'nkat'], ['1 U', 'umol/min'], ['1 umol/min', 'U'], ['250 U', 'umol/min']];
for (const [from, to] of units) console.log(from, '=', Number(Qty(from).to(to).scalar.toPrecision(4)), to);
JS

expected="$(cat <<'SEEN'
1 kat = 1 mol/s
1 umol/min = 16.67 nkat
1 U = 0.000001667 nkat
1 U = 1e-7 umol/min
1 umol/min = 10000000 U
250 U = 0.000025 umol/min
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "js-quantities@1.8.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
