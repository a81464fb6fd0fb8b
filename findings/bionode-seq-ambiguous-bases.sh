#!/usr/bin/env bash
# The complement of W (A or T) is S (G or C), and a codon with an ambiguous base is no amino acid.
# A W pairs with a W. bionode-seq turns it into S and back, so a primer with one binds nowhere, and drops each codon that is not in its
# table: the protein gets shorter without a gap. Guess: ACGTW and X, or the A that each GCN codes for.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . bionode-seq@0.1.1

cat >try.mjs <<'JS'
import seq from 'bionode-seq';
for (const dna of ['WACGT', 'SACGT', 'RACGT']) console.log('reverse complement', dna, seq.reverseComplement(dna));
for (const dna of ['ATGGCATGGTAA', 'ATGGCNTGGTAA', 'ATGRAYTGGTAA']) console.log('translation', dna, seq.translate(dna));
JS

expected="$(cat <<'SEEN'
reverse complement WACGT ACGTS
reverse complement SACGT ACGTW
reverse complement RACGT ACGTY
translation ATGGCATGGTAA MAW*
translation ATGGCNTGGTAA MW*
translation ATGRAYTGGTAA MW*
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "bionode-seq@0.1.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
