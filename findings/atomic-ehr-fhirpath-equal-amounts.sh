#!/usr/bin/env bash
# A quarter of a litre is not 250 ml, and a limit of 0.05 g/l is above 5 mg/dl.
# @atomic-ehr/fhirpath converts units and compares the results to the last bit, also with ~, >= and distinct amounts in "in". FHIRPath
# wants decimals. Guess: equal, as 300 mg and 0.3 g are.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @atomic-ehr/fhirpath@0.1.4

cat >try.mjs <<'JS'
import { evaluate } from '@atomic-ehr/fhirpath';
const expressions = ["300 'mg' = 0.3 'g'", "250 'mL' = 0.25 'L'", "250 'mL' ~ 0.25 'L'", "5 'mg/dL' = 0.05 'g/L'", "5 'mg/dL' >= 0.05 'g/L'"];
for (const expression of [...expressions, "1000 'mg' = 1 'g'", "1000 'mg' in (1 'g')", '0.1 + 0.2 = 0.3'])
  console.log(expression, '->', (await evaluate(expression, { input: {} })).join());
JS

expected="$(cat <<'SEEN'
300 'mg' = 0.3 'g' -> true
250 'mL' = 0.25 'L' -> false
250 'mL' ~ 0.25 'L' -> false
5 'mg/dL' = 0.05 'g/L' -> false
5 'mg/dL' >= 0.05 'g/L' -> false
1000 'mg' = 1 'g' -> true
1000 'mg' in (1 'g') -> false
0.1 + 0.2 = 0.3 -> false
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@atomic-ehr/fhirpath@0.1.4, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
