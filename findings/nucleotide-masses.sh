#!/usr/bin/env bash
# An oligo weighs as much as two, and its ambiguous bases weigh nothing.
# `sequenceToMF` of nucleotide takes letters for DNA with two strands, unless there is a U, so a primer gets its complement's mass too.
# Letters that it does not know (N, R, I for inosine) are left out, without a message. Guess: one strand; an error, or a mean mass.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . nucleotide@3.2.16 mf-parser@3.9.3

cat >try.mjs <<'JS'
import { MF } from 'mf-parser';
import { sequenceToMF } from 'nucleotide';
for (const [letters, kind] of [['ACGT'], ['ACGU'], ['ACGT', 'dna'], ['ACNGT', 'dna'], ['ACRGT', 'dna'], ['ACIGT', 'dna']]) {
  const { mass } = new MF(sequenceToMF(letters, { kind })).getInfo();
  console.log(letters, kind ?? '(no kind)', mass.toFixed(1));
}
JS

expected="$(cat <<'SEEN'
ACGT (no kind) 2507.6
ACGU (no kind) 1303.8
ACGT dna 1253.8
ACNGT dna 1253.8
ACRGT dna 1253.8
ACIGT dna 1253.8
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "nucleotide@3.2.16, mf-parser@3.9.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
