#!/usr/bin/env bash
# chem-units 1.6.0 has 1 g/L as a million ng/L (a thousand million), an enzyme's 1 U/L as 0.01 U/mL (0.001), 1 mol/L in a minute as 60 in a
# second (a sixtieth), and 1 kHz as a million "MHz". A unit whose key it does not know stays as it was: 1 atm is 1 kPa, as the key is kpa.
# Guess: the factors of the units' names, and an error for an unknown one.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . chem-units@1.6.0

cat >try.mjs <<'JS'
import { convert, genUnits } from 'chem-units';
const label = (field, key) => genUnits(field).find((unit) => unit.key === key)?.label ?? `${key} (no such key)`;
for (const [field, from, to] of [['concentration', 'g_l', 'mg_l'], ['concentration', 'g_l', 'ng_l'], ['enzyme_activity', 'u_l', 'u_ml'], ['reaction_rate', 'mol_lmin', 'mol_lsec'], ['frequency', 'khz', 'mhz'], ['pressure', 'atm', 'kpa'], ['pressure', 'atm', 'kPa']]) {
  console.log(1, label(field, from), '=', convert(field, 1, from, to), label(field, to));
}
JS

expected="$(cat <<'SEEN'
1 g/L = 1000 mg/L
1 g/L = 1000000 ng/L
1 U/L = 0.01 U/mL
1 mol/Lmin = 60 mol/Ls
1 kHz = 1000000 MHz
1 atm = 101.325 kPa
1 atm = 1 kPa (no such key)
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "chem-units@1.6.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
