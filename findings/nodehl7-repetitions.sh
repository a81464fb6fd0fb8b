#!/usr/bin/env bash
# A patient's second number is part of the first one's type, and two results are one.
# nodehl7 reads the sign for repetitions from the header, and never splits by it: `123^^^H^MR~456^^^N^SS` is one list of nine parts, whose
# fifth is MR~456. It replaces escaped signs one kind after another, so that the text \S\ itself becomes another.
# Guess: two numbers, two results, and the text as it was written.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . nodehl7@2.0.0

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const Hl7 = createRequire(import.meta.url)('nodehl7');
const message = await new Hl7().parse(
  [
    'MSH|^~\\&|LAB|HOSP|EHR|HOSP|20260131140509||ORU^R01|1|P|2.5',
    'PID|1||123^^^H^MR~456^^^N^SS||Doe^Jane',
    'OBX|1|NM|2345-7^Glucose^LN||5.4~5.6|mmol/L',
    'OBX|2|ST|8251-1^Comment^LN||the sign \\E\\S\\E\\ was typed',
  ].join('\r'),
  'report',
);
const [, { parts: patient }, { parts: glucose }, { parts: comment }] = message.segments;
console.log('patient:', JSON.stringify(patient[2]));
console.log('results:', JSON.stringify(glucose[4]));
console.log('comment:', comment[4]);
JS

expected="$(cat <<'SEEN'
patient: ["123","","","H","MR~456","","","N","SS"]
results: "5.4~5.6"
comment: the sign \E|E\ was typed
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "nodehl7@2.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
