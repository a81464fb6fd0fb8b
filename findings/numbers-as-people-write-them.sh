#!/usr/bin/env bash
# A count of 1.5E3 is 1.53, a p-value of 1e-7 is NaN, and a tube of 3 m is 3,000,000 long.
# numeral rounds by the text of a number, and a small one is written with an exponent; k, m, b and t after a number are thousands to trillions.
# Both leave out letters and commas that they don't know and join the digits. Guess: 1500, 0.000, 3, and null for what is no number.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . accounting@0.4.1 numeral@2.0.6

cat >try.mjs <<'JS'
import accounting from 'accounting';
import numeral from 'numeral';
for (const value of [1e-5, 1e-7]) console.log(value, 'as 0.000:', numeral(value).format('0.000'));
for (const text of ['1.5E3', '1e-5', '1,5', '3 m', '1.5 t', '5:30', '2 of 10'])
  console.log(`${text}: numeral ${Number(numeral(text).value().toPrecision(6))}, accounting ${accounting.unformat(text)}`);
JS

expected="$(cat <<'SEEN'
0.00001 as 0.000: 0.000
1e-7 as 0.000: NaN
1.5E3: numeral 1.53, accounting 1.53
1e-5: numeral 0.00001, accounting 1
1,5: numeral 15, accounting 15
3 m: numeral 3000000, accounting 3
1.5 t: numeral 1500000000000, accounting 1.5
5:30: numeral 330, accounting 530
2 of 10: numeral 210, accounting 210
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "accounting@0.4.1, numeral@2.0.6, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
