#!/usr/bin/env bash
# fhirpath 5.2.2 holds that 2.5 m[IU]/L of a hormone are not 2.5 u[IU]/mL, which are the two usual ways to write the same amount, and has
# no answer to whether 4 is above 2.5 (a check for a limit then is neither met nor missed). With grams it converts.
# Guess: true, as for ug/L and ng/mL: both sides have the same unit with another prefix.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . fhirpath@5.2.2

cat >try.mjs <<'JS'
import fhirpath from 'fhirpath';
for (const expression of ["2.5 'm[IU]/L' = 2.5 'u[IU]/mL'", "2.5 'm[IU]/L' ~ 2.5 'u[IU]/mL'", "4 'm[IU]/L' > 2.5 'u[IU]/mL'", "1 '[IU]/mL' = 1000 '[IU]/L'", "5 'ug/L' = 5 'ng/mL'", "5 'ug/L' > 2.5 'ng/mL'"]) {
  console.log(expression, JSON.stringify(fhirpath.evaluate({}, expression)));
}
JS

expected="$(cat <<'SEEN'
2.5 'm[IU]/L' = 2.5 'u[IU]/mL' [false]
2.5 'm[IU]/L' ~ 2.5 'u[IU]/mL' [false]
4 'm[IU]/L' > 2.5 'u[IU]/mL' []
1 '[IU]/mL' = 1000 '[IU]/L' [false]
5 'ug/L' = 5 'ng/mL' [true]
5 'ug/L' > 2.5 'ng/mL' [true]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "fhirpath@5.2.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
