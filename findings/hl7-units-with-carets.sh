#!/usr/bin/env bash
# A count in 10^9/L arrives as one in units of 10.
# In HL7, ^ and & separate parts and are \S\ and \T\ in text. hl7 and hl7-standard write and read them as they are: a unit falls in two, a
# stain of H&E loses its E, and what others write rightly is read with its signs. Guess: they are escaped and read back.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . hl7@1.1.1 hl7-standard@1.0.4

cat >try.mjs <<'JS'
import hl7 from 'hl7';
import HL7 from 'hl7-standard';
const start = 'MSH|^~\\&|LAB||||20260131||ORU^R01|1|P|2.5';
const field = (text) => [[text]];
const made = hl7.serializeJSON([['MSH', '|', '^~\\&', field('LAB')], ['OBX', field('1'), field('10^9/L'), field('H&E stain')]]);
console.log('hl7 writes', made.split('\r')[1]);
console.log('hl7 reads ', JSON.stringify(hl7.parseString(made)[1].slice(2)));
console.log('hl7 reads ', JSON.stringify(hl7.parseString(`${start}\rOBX|1|10\\S\\9/L|H\\T\\E stain`)[1].slice(2)));
const read = (text) => {
  const message = new HL7(text);
  message.transform();
  return message;
};
const message = read(`${start}\rOBX|1|NM|WBC||5.5|x|x`);
message.set('OBX.6.1', '10^9/L');
message.set('OBX.7.1', 'H&E stain');
const sent = message.build();
console.log('hl7-standard writes', sent.split('\r\n')[1]);
console.log('hl7-standard reads ', ['OBX.6.1', 'OBX.7.1'].map((name) => JSON.stringify(read(sent).get(name))).join(' '));
const others = read(`${start}\rOBX|1|NM|WBC||5.5|10\\S\\9/L|H\\T\\E stain`);
console.log('hl7-standard reads ', ['OBX.6.1', 'OBX.7.1'].map((name) => JSON.stringify(others.get(name))).join(' '));
JS

expected="$(cat <<'SEEN'
hl7 writes OBX|1|10^9/L|H&E stain
hl7 reads  [[["10","9/L"]],[[["H","E stain"]]]]
hl7 reads  [[["10\\S\\9/L"]],[["H\\T\\E stain"]]]
hl7-standard writes OBX|1|NM|WBC||5.5|10^9/L|H&E stain|
hl7-standard reads  "10" "H"
hl7-standard reads  "10\\S\\9/L" "H\\T\\E stain"
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "hl7@1.1.1, hl7-standard@1.0.4, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
