#!/usr/bin/env bash
# A milligram per litre is 1000 nanograms per litre, 4 µmol are 0 mol, and a kilogram is a gram.
# chem-units counts ng and mg as neighbours, and rounds to five decimals. A unit that it does not know leaves the number as it
# is; kg is one, though its README makes 1000 g of it. Guess: 1000000; 0.000004; 1000, or an error.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . chem-units@2.1.0

cat >try.mjs <<'JS'
import { convert } from 'chem-units';
const tries = [
  ['concentration', 1, 'g_l', 'mg_l'],
  ['concentration', 1, 'mg_l', 'ng_l'],
  ['speed', 1, 'um_m', 'nm_m'],
  ['amount_substance', 4, 'umol', 'mol'],
  ['amount_substance', 6, 'umol', 'mol'],
  ['mass', 1, 'kg', 'g'],
  ['mass', 250, 'ng', 'ug'],
];
for (const [kind, value, from, to] of tries) console.log(value, from, '=', convert(kind, value, from, to), to);
JS

expected="$(cat <<'SEEN'
1 g_l = 1000 mg_l
1 mg_l = 1000 ng_l
1 um_m = 100 nm_m
4 umol = 0 mol
6 umol = 0.00001 mol
1 kg = 1 g
250 ng = 250 ug
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "chem-units@2.1.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
