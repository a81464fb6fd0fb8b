#!/usr/bin/env bash
# A blood pressure of 120 over 80 is 120 mmHg.
# The table of vital signs that @imranq2/fhirpatientsummary makes has the names of all components of an observation, but only the first one's value
# and unit. A ratio or a range is "null", and a result of 2025 is of 1 January. Guess: 120 and 80, 1:128, and 2025.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @imranq2/fhirpatientsummary@1.0.45

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const { NarrativeGenerator } = createRequire(import.meta.url)('@imranq2/fhirpatientsummary');
const coding = (code) => [{ code, system: 'http://loinc.org' }];
const pressure = (text, value) => ({ code: { text }, valueQuantity: { unit: 'mmHg', value } });
const observation = (code, text, rest) => ({ code: { coding: coding(code), text }, effectiveDateTime: '2026-01-31', resourceType: 'Observation', status: 'final', ...rest });
const observations = [
  observation('85354-9', 'Blood pressure', { component: [pressure('Systolic', 120), pressure('Diastolic', 80)] }),
  observation('5000-1', 'Titre', { valueRatio: { denominator: { value: 128 }, numerator: { value: 1 } } }),
  observation('8302-2', 'Height', { effectiveDateTime: '2025', valueQuantity: { unit: 'cm', value: 170 } }),
];
const { div } = await NarrativeGenerator.generateNarrativeAsync('VitalSignsSection', observations, 'America/New_York', false);
for (const [, row] of div.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)) {
  const cells = [...row.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell]) => cell.replace(/<[^>]+>/g, '').trim());
  console.log(cells.filter((_, index) => [0, 2, 3, 5, 7].includes(index)).join(' | '));
}
JS

expected="$(cat <<'SEEN'
Name | Result | Unit | Component(s) | Date
Blood pressure | 120 mmHg | mmHg | Systolic, Diastolic | 01/31/2026
Titre | null |  |  | 01/31/2026
Height | 170 cm | cm |  | 01/01/2025
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@imranq2/fhirpatientsummary@1.0.45, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
