#!/usr/bin/env bash
# dimensional 1.3.2 has a millimetre of mercury as 133.322 bar, which are 133.322 pascal: 760 mmHg are 100000 atmospheres, and a blood
# pressure of 120 mmHg is 16000 bar. The inch of mercury is made from it. Bar, psi and atmosphere agree.
# Guess: 1 atm and 0.16 bar.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . dimensional@1.3.2

cat >try.mjs <<'JS'
import { Quantity, units } from 'dimensional';
for (const [amount, from, to] of [[760, 'millimetersOfMercury', 'atmosphere'], [120, 'millimetersOfMercury', 'bar'], [29.92, 'inchesOfMercury', 'atmosphere'], [14.696, 'poundsPerSquareInch', 'atmosphere'], [1, 'atmosphere', 'bar']]) {
  console.log(amount, from, '=', Number(new Quantity(amount, units[from]).as(units[to]).quantity.toPrecision(5)), to);
}
JS

expected="$(cat <<'SEEN'
760 millimetersOfMercury = 100000 atmosphere
120 millimetersOfMercury = 15999 bar
29.92 inchesOfMercury = 99996 atmosphere
14.696 poundsPerSquareInch = 1 atmosphere
1 atmosphere = 1.0132 bar
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "dimensional@1.3.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
