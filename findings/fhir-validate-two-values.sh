#!/usr/bin/env bash
# An observation with two values, of 31.01.2026, is valid.
# FHIR allows one of the fields value[x], dates as 2026-01-31 and whole numbers for valueInteger. The validator of fhir checks the types of
# numbers and booleans and the codes, but none of these; a misspelt field is a warning. Guess: not valid.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . fhir@4.12.0

cat >try.mjs <<'JS'
import fhir from 'fhir';
const validator = new fhir.Fhir();
const wrong = {
  'a boolean in words': { valueBoolean: 'yes' },
  'two values': { valueQuantity: { value: 5.5 }, valueString: 'not measured' },
  'a German date': { effectiveDateTime: '31.01.2026' },
  '30 February': { effectiveDateTime: '2026-02-30' },
  'half an integer': { valueInteger: 1.5 },
  'a misspelt value': { valueQuantitiy: { value: 5.5 } },
};
for (const [name, fields] of Object.entries(wrong)) {
  const { valid, messages } = validator.validate({ resourceType: 'Observation', status: 'final', code: { text: 'glucose' }, ...fields });
  console.log(`${name}:`, [valid ? 'valid' : 'not valid', ...messages.map(({ severity }) => severity)].join(', '));
}
JS

expected="$(cat <<'SEEN'
a boolean in words: not valid, error
two values: valid
a German date: valid
30 February: valid
half an integer: valid
a misspelt value: valid, warning
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "fhir@4.12.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
