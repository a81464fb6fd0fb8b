#!/usr/bin/env bash
# fhirpath 5.2.2 (HL7's) says that 0.29 * 100 = 29 is true, and that (0.29 * 100).floor() is 28: decimals are binary floats, and only the
# comparison hides it. (4.35 * 100).truncate() is 434, 1.005 rounded to two places 1.
# Guess: FHIRPath's Decimal is decimal: 29, 435, 57 and 1.01.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . fhirpath@5.2.2

cat >try.mjs <<'JS'
import fhirpath from 'fhirpath';
for (const expression of ['0.29 * 100 = 29', '(0.29 * 100).floor()', '4.35 * 100 = 435', '(4.35 * 100).truncate()', '(0.57 * 100).floor()', '1.005.round(2)']) {
  console.log(expression, String(fhirpath.evaluate({}, expression)));
}
JS

expected="$(cat <<'SEEN'
0.29 * 100 = 29 true
(0.29 * 100).floor() 28
4.35 * 100 = 435 true
(4.35 * 100).truncate() 434
(0.57 * 100).floor() 56
1.005.round(2) 1
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "fhirpath@5.2.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
