#!/usr/bin/env bash
# Of a quoted name over two lines, GenBank's reader keeps half.
# GenBank doubles a quotation mark inside a value. Where such a value goes on in the next line, @teselagen/bio-parsers drops the name
# and the rest of its line, without a message. Guess: protein with a "quoted" name and a long line that goes on here.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @teselagen/bio-parsers@0.4.38

cat >try.mjs <<'JS'
import { genbankToJson } from '@teselagen/bio-parsers';
const file = `LOCUS       p1                  60 bp    DNA     circular SYN 01-JAN-2020
FEATURES             Location/Qualifiers
     CDS             10..20
                     /product="protein with a ""quoted"" name and a long line that goes
                     on here"
ORIGIN
        1 atgcatgcat gcatgcatgc atgcatgcat gcatgcatgc atgcatgcat gcatgcatgc
//
`;
const [{ messages, parsedSequence }] = await genbankToJson(file);
console.log(JSON.stringify(parsedSequence.features[0].notes.product), `${messages.length} messages`);
JS

expected="$(cat <<'SEEN'
["protein with a on here"] 0 messages
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@teselagen/bio-parsers@0.4.38, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
