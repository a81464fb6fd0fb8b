#!/usr/bin/env bash
# haystack-units 2.0.8 has a milligram in a litre as a millionth of a gram in a cubic metre (they are the same), and a kilogram in a litre as
# 0.001 kg in a cubic metre, which are 1000: the litre is divided by 1000 instead of into 1000. An atmosphere is 101.3171 kPa (101.325).
# Guess: 1 g, 1000 kg and 101.325 kPa.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . haystack-units@2.0.8 haystack-core@3.0.13

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const units = createRequire(import.meta.url)('haystack-units');
for (const [amount, from, to] of [[1, 'milligramsPerLiter', 'gramsPerCubicMeter'], [1, 'kilogramsPerLiter', 'kilogramsPerCubicMeter'], [1000, 'milligramsPerCubicMeter', 'gramsPerCubicMeter'], [1, 'atmosphere', 'kilopascal']]) {
  console.log(amount, from, '=', Number(units[from].convertTo(amount, units[to]).toPrecision(7)), to);
}
JS

expected="$(cat <<'SEEN'
1 milligramsPerLiter = 0.000001 gramsPerCubicMeter
1 kilogramsPerLiter = 0.001 kilogramsPerCubicMeter
1000 milligramsPerCubicMeter = 1 gramsPerCubicMeter
1 atmosphere = 101.3171 kilopascal
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "haystack-units@2.0.8, haystack-core@3.0.13, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
