#!/usr/bin/env bash
# A count of 3 is "negative", or "RESULTS": the last text before it.
# cda-fhir knows the quantities and codes of a CDA document. Of an INT it takes the text, which it has none, so the last one read stays. A time
# with a zone is one without, one without seconds no FHIR date, and a quantity a text. Guess: 3, the zone, a date, the number 5.4.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . cda-fhir@2.0.0

cat >try.mjs <<'JS'
import { Readable } from 'node:stream';
import cda from 'cda-fhir';
const loinc = (code) => `<code code="${code}" codeSystem="2.16.840.1.113883.6.1"/>`;
const template = (number) => `<templateId root="2.16.840.1.113883.10.20.22.${number}"/>`;
const result = ([when, value]) =>
  `<component><observation>${template('4.2')}<id root="1.2"/>${loinc('20584-9')}<effectiveTime value="${when}"/>${value}</observation></component>`;
function read(name, ...results) {
  const patient = '<recordTarget><patientRole><id root="1.2" extension="1"/><patient><birthTime value="19800517"/></patient></patientRole></recordTarget>';
  const organizer = `<entry><organizer>${template('4.1')}${loinc('24323-8')}${results.map(result).join('')}</organizer></entry>`;
  const section = `<section>${template('2.3.1')}${loinc('30954-2')}<title>RESULTS</title>${organizer}</section>`;
  const body = `<component><structuredBody><component>${section}</component></structuredBody></component>`;
  const space = 'xmlns="urn:hl7-org:v3" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
  return new Promise((resolve, reject) => {
    Readable.from([`<ClinicalDocument ${space}>${template('1.2')}${patient}${body}</ClinicalDocument>`])
      .pipe(new cda.CcdaParserStream('p'))
      .on('error', reject)
      .on('data', ({ entry }) => {
        for (const { resource } of entry)
          if (resource.resourceType === 'Observation')
            console.log(`${name}: ${resource.effectiveDateTime}, ${JSON.stringify(resource.valueQuantity ?? resource.valueString)}`);
        resolve();
      });
  });
}
const count = '<value xsi:type="INT" value="3"/>';
await read('a count', ['20260331', count]);
await read('a text and a count', ['20260331', '<value xsi:type="ST">negative</value>'], ['20260331', count]);
await read('a quantity', ['20260331143000+0200', '<value xsi:type="PQ" value="5.4" unit="mmol/L"/>']);
await read('without seconds', ['202603311430+0200', '<value xsi:type="PQ" value="5.4" unit="mmol/L"/>']);
JS

expected="$(cat <<'SEEN'
a count: 2026-03-31, "RESULTS"
a text and a count: 2026-03-31, "negative"
a text and a count: 2026-03-31, "negative"
a quantity: 2026-03-31T14:30:00, {"value":"5.4","unit":"mmol/L"}
without seconds: 202603311430+0200, {"value":"5.4","unit":"mmol/L"}
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "cda-fhir@2.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
