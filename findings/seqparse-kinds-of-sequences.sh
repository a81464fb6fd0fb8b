#!/usr/bin/env bash
# DNA with ambiguous bases is a protein, and a feature over the origin ends at 0.
# seqparse tells DNA from protein by the letters A, C, G, T, U and N: with R or Y (IUPAC's purine and pyrimidine) it says protein, with a
# gap unknown. Of join(50..60,1..5) on a plasmid it keeps the start, and 0 as the end. Guess: DNA; 5.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . seqparse@0.2.2

cat >try.mjs <<'JS'
import seqparse from 'seqparse';
const parse = seqparse.default ?? seqparse;
for (const letters of ['ACGTN', 'ACGTRY', 'AC-GT']) console.log(letters, (await parse(`>primer\n${letters}\n`)).type);
const file = `LOCUS       p1                  60 bp    DNA     circular SYN 01-JAN-2020
FEATURES             Location/Qualifiers
     misc_feature    join(50..60,1..5)
                     /label="ori"
ORIGIN
        1 atgcatgcat gcatgcatgc atgcatgcat gcatgcatgc atgcatgcat gcatgcatgc
//
`;
const [{ start, end }] = (await parse(file)).annotations;
console.log('feature over the origin:', start, end);
JS

expected="$(cat <<'SEEN'
ACGTN dna
ACGTRY aa
AC-GT unknown
feature over the origin: 49 0
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "seqparse@0.2.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
