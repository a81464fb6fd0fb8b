#!/usr/bin/env bash
# unitz-ts 1.0.1 converts what it does not know to 0, without an error: 250 mcg are 0 mg, 5e-6 g are 0 mg, 37 C are 0 F. 1,5 g are 5000 mg
# (a list of 1 and 5 g), and a tonne is the American ton of 907 kg.
# Guess: an error or NaN for a unit that is missing; 1000 kg.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . unitz-ts@1.0.1

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const { Classes, uz } = createRequire(import.meta.url)('unitz-ts');
Classes.addDefaults();
for (const [amount, unit] of [['250 mg', 'g'], ['250 mcg', 'mg'], ['5e-6 g', 'mg'], ['37 C', 'F'], ['1.5 g', 'mg'], ['1,5 g', 'mg'], ['1 tonne', 'kg']]) {
  console.log(amount, '=', uz(amount).convert(unit).output());
}
JS

expected="$(cat <<'SEEN'
250 mg = 1/4g
250 mcg = 0mg
5e-6 g = 0mg
37 C = 0F
1.5 g = 1500mg
1,5 g = 5000mg
1 tonne = 907 23/125kg
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "unitz-ts@1.0.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
