#!/usr/bin/env bash
# Of an RNA sequence, only the first U is read.
# Each further U becomes a gap, and a codon with one an unknown amino acid. The length stays the same, and nothing is said. Guess: the
# same sequence, and MF* as its protein.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ntseq@1.1.0

cat >try.mjs <<'JS'
import Nt from 'ntseq';
for (const rna of ['AUGACC', 'AUGUUUUAA']) {
  const sequence = new Nt.Seq('RNA').read(rna);
  console.log(rna, '->', sequence.sequence(), 'complement', sequence.complement().sequence(), 'protein', sequence.translate());
}
JS

expected="$(cat <<'SEEN'
AUGACC -> AUGACC complement GGUCAU protein MT
AUGUUUUAA -> AUG----AA complement UU----CAU protein M??
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ntseq@1.1.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
