#!/usr/bin/env bash
# The mark of a masked name stands at the next name, and no observation has a value.
# In FHIR's JSON, the second of three names may be null, with its reason beside it. By way of XML, the package fhir drops the null but not
# the place of the reason, and turns a decimal of an extension into text. Its FHIRPath does not find value[x] by the name "value", and says
# undefined. Guess: the same JSON again, and 7.5.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . fhir@4.12.0

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const { Fhir } = createRequire(import.meta.url)('fhir');
const fhir = new Fhir();
const reason = { extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'masked' }] };
const weight = { url: 'http://example.org/weight', valueDecimal: 3.5 };
const patient = { resourceType: 'Patient', extension: [weight], name: [{ given: ['Ann', null, 'Eve'], _given: [null, reason, null] }] };
const { extension, name } = fhir.xmlToObj(fhir.objToXml(patient));
console.log('given:', JSON.stringify(name[0].given));
console.log('masked:', JSON.stringify(name[0]._given.map((mark) => mark?.extension[0].valueCode ?? null)));
console.log('extension:', JSON.stringify(extension[0].valueDecimal));
const observation = { resourceType: 'Observation', status: 'final', code: { text: 'Hb' }, valueQuantity: { value: 7.5, unit: 'g/dL' } };
for (const path of ['Observation.value.value', 'Observation.valueQuantity.value', 'Observation.status']) console.log(`${path}:`, fhir.evaluate(observation, path));
JS

expected="$(cat <<'SEEN'
given: ["Ann","Eve"]
masked: [null,"masked"]
extension: "3.5"
Observation.value.value: undefined
Observation.valueQuantity.value: 7.5
Observation.status: final
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "fhir@4.12.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
