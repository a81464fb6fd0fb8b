#!/usr/bin/env bash
# convert-units 2.3.4's toBest shows a loss in the smallest unit it has: -2000 g are -2000000000 mcg, where 2000 g are 2 kg, and -90 min are
# 5.4e12 ns. (500 ml are 2.5 "glas", a kitchen measure.) It takes the unit that gives the smallest number from 1, and below 0 the lowest one.
# Guess: -2 kg and -1.5 h, as without the sign.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . convert-units@2.3.4

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const convert = createRequire(import.meta.url)('convert-units');
for (const [amount, unit] of [[2000, 'g'], [-2000, 'g'], [500, 'ml'], [-500, 'ml'], [-90, 'min']]) {
  const best = convert(amount).from(unit).toBest();
  console.log(amount, unit, '=', best.val, best.unit);
}
JS

expected="$(cat <<'SEEN'
2000 g = 2 kg
-2000 g = -2000000000 mcg
500 ml = 2.5 glas
-500 ml = -500000 mm3
-90 min = -5400000000000 ns
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "convert-units@2.3.4, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
