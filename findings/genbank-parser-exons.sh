#!/usr/bin/env bash
# A gene of many exons is only one of them.
# genbank-parser gives a feature one start and one end, those of the first exon in the line where the location ends. So a list that goes
# over a line has lost its beginning. A note is cut at the first `=`, and a name that goes over a line loses the space.
# Guess: the first start and the last end, and the texts as they stand.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . genbank-parser@3.0.0

cat >try.mjs <<'JS'
import { genbankToJson } from 'genbank-parser';
function feature(location) {
  const file = `LOCUS       p1                  60 bp    DNA     linear   SYN 01-JAN-2020
FEATURES             Location/Qualifiers
     CDS             ${location}
                     /note="pathogenic: R175H = hotspot"
                     /product="cellular tumor
                     antigen p53"
ORIGIN
        1 atgcatgcat gcatgcatgc atgcatgcat gcatgcatgc atgcatgcat gcatgcatgc
//
`;
  const [record] = genbankToJson(file);
  return record.features[0];
}
const exons = 'join(1..9,20..29,40..49)';
for (const location of [exons, `complement(${exons})`, exons.replace('29,', `29,\n${' '.repeat(21)}`)]) {
  const { start, end } = feature(location);
  console.log(location.replaceAll(/\s+/g, ' '), 'is', start, 'to', end);
}
console.log(JSON.stringify(feature('1..9').notes));
JS

expected="$(cat <<'SEEN'
join(1..9,20..29,40..49) is 1 to 9
complement(join(1..9,20..29,40..49)) is 1 to 9
join(1..9,20..29, 40..49) is 40 to 49
{"note":["pathogenic: R175H "],"product":["cellular tumorantigen p53"]}
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "genbank-parser@3.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
