#!/usr/bin/env bash
# @teselagen/sequence-utils 0.3.42 answers with RNA for a DNA sequence once an RNA was complemented: the reverse complement of GATTACA
# is TGTAATC at first, then UGUAAUC. getComplementSequenceString(sequence, true) writes the U into the one table that all of the
# functions share, and only the next complement of a DNA (not a reverse complement) takes it out again.
# Guess: the second argument counts for its own call.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @teselagen/sequence-utils@0.3.42

cat >try.mjs <<'JS'
import { getComplementSequenceString, getReverseComplementSequenceString } from '@teselagen/sequence-utils';
console.log('the reverse complement of GATTACA:', getReverseComplementSequenceString('GATTACA'));
console.log('the complement of the RNA GAUUACA:', getComplementSequenceString('GAUUACA', true));
console.log('the reverse complement of GATTACA:', getReverseComplementSequenceString('GATTACA'));
console.log('the complement of the DNA GATTACA:', getComplementSequenceString('GATTACA'));
console.log('the reverse complement of GATTACA:', getReverseComplementSequenceString('GATTACA'));
JS

expected="$(cat <<'SEEN'
the reverse complement of GATTACA: TGTAATC
the complement of the RNA GAUUACA: CUAAUGU
the reverse complement of GATTACA: UGUAAUC
the complement of the DNA GATTACA: CTAATGT
the reverse complement of GATTACA: TGTAATC
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@teselagen/sequence-utils@0.3.42, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
