#!/usr/bin/env bash
# 37 °C is −240 °C more than 4 °C, and ten degrees warm a sample by 1189 J instead of 42 J.
# unitmath turns each temperature into kelvin, calculates, and turns the sum back as if it were a temperature, also beside a rate or a heat
# capacity. Kelvins may be added to degrees. There is no unit for a difference. Guess: 33 °C, 25 °C, 42 J, or an error.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . unitmath@0.8.8

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const unit = createRequire(import.meta.url)('unitmath/dist/UnitMath.js');
console.log('37 degC - 4 degC:', unit('37 degC').sub('4 degC').toString());
console.log('20 degC + 5 degC:', unit('20 degC').add('5 degC').toString());
console.log('20 degC + 5 K:', unit('20 degC').add('5 K').toString());
console.log('4.2 J/degC * 10 degC:', unit('4.2 J/degC').mul('10 degC').to('J').toString());
console.log('1 degC/min * 3 min:', unit('1 degC').div('1 min').mul('3 min').toString());
JS

expected="$(cat <<'SEEN'
37 degC - 4 degC: -240.15 degC
20 degC + 5 degC: 298.15 degC
20 degC + 5 K: 25 degC
4.2 J/degC * 10 degC: 1189.23 J
1 degC/min * 3 min: 549.3 degC
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "unitmath@0.8.8, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
