#!/usr/bin/env bash
# A titre of 1:128 is no text at all, and every 4 to 6 hours is every 4 hours.
# formatObservationValue of @medplum/core knows quantities, codes and texts; whole numbers, yes or no, ratios, ranges and times become an empty
# text. formatTiming leaves out upper limits, meals and numbers of doses. Guess: each value of FHIR as text, each limit of a dose with it.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @medplum/core@5.2.13

cat >try.mjs <<'JS'
import { formatObservationValue, formatTiming } from '@medplum/core';
const ratio = { denominator: { value: 128 }, numerator: { value: 1 } };
const values = { valueBoolean: false, valueDateTime: '2026-01-31', valueInteger: 7, valueRange: { high: { value: 10 }, low: { value: 5 } }, valueRatio: ratio };
console.log('quantity:', JSON.stringify(formatObservationValue({ resourceType: 'Observation', valueQuantity: { unit: 'mg', value: 5 } })));
for (const [name, value] of Object.entries(values)) {
  const text = formatObservationValue({ resourceType: 'Observation', [name]: value });
  console.log(`${name} ${JSON.stringify(value)}: ${JSON.stringify(text)}`);
}
const daily = { frequency: 1, period: 1, periodUnit: 'd' };
const repeats = [{ frequency: 1, period: 4, periodMax: 6, periodUnit: 'h' }, { ...daily, frequencyMax: 3 }, { ...daily, count: 3 }, { ...daily, when: ['PCM'] }];
for (const repeat of repeats) console.log(JSON.stringify(repeat), 'is', JSON.stringify(formatTiming({ repeat })));
JS

expected="$(cat <<'SEEN'
quantity: "5 mg"
valueBoolean false: ""
valueDateTime "2026-01-31": ""
valueInteger 7: ""
valueRange {"high":{"value":10},"low":{"value":5}}: ""
valueRatio {"denominator":{"value":128},"numerator":{"value":1}}: ""
{"frequency":1,"period":4,"periodMax":6,"periodUnit":"h"} is "Once per 4 hours"
{"frequency":1,"period":1,"periodUnit":"d","frequencyMax":3} is "Daily"
{"frequency":1,"period":1,"periodUnit":"d","count":3} is "Daily"
{"frequency":1,"period":1,"periodUnit":"d","when":["PCM"]} is "Daily"
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@medplum/core@5.2.13, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
