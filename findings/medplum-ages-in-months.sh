#!/usr/bin/env bash
# A four-year-old is judged by the limits for infants of up to six months.
# An age in FHIR is a quantity with a unit. findObservationInterval of @medplum/core compares its number with years, whatever the unit, so that
# a normal interval for 0 to 6 months holds for children of up to six years, and days do too. Guess: months are months.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @medplum/core@5.2.13

cat >try.mjs <<'JS'
import { findObservationInterval } from '@medplum/core';
const age = (low, high, code) => ({ high: { code, system: 'http://unitsofmeasure.org', value: high }, low: { code, system: 'http://unitsofmeasure.org', value: low } });
const interval = (condition, limits, low, high) => ({ age: limits, category: 'reference', condition, range: { high: { value: high }, low: { value: low } } });
// Haemoglobin in g/l.
const qualifiedInterval = [
  interval('normal for newborns', age(0, 28, 'd'), 140, 220),
  interval('normal for infants', age(1, 6, 'mo'), 95, 140),
  interval('normal for children', age(1, 12, 'a'), 110, 155),
];
const definition = { code: { text: 'Hb' }, qualifiedInterval, resourceType: 'ObservationDefinition' };
const born = (years) => new Date(Date.now() - years * 365.25 * 86_400_000).toISOString().slice(0, 10);
for (const [years, value] of [[4.5, 100], [4.5, 120], [20.5, 190]]) {
  const found = findObservationInterval(definition, { birthDate: born(years), resourceType: 'Patient' }, value);
  console.log(`${value} g/l at ${years} years: ${found?.condition ?? 'in no interval'}`);
}
JS

expected="$(cat <<'SEEN'
100 g/l at 4.5 years: normal for infants
120 g/l at 4.5 years: normal for infants
190 g/l at 20.5 years: normal for newborns
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@medplum/core@5.2.13, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
