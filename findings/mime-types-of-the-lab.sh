#!/usr/bin/env bash
# Endings of the lab have the types of something else.
# A file of SMILES is a multimedia presentation, variants are business cards, a protein structure is a Palm database, and intervals
# belong to a remote desktop. Sequences, spectra and HDF5 have no type. Guess: chemical/x-daylight-smiles, or no type.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . mime-types@3.0.2

cat >try.mjs <<'JS'
import mime from 'mime-types';
for (const ending of ['smi', 'vcf', 'pdb', 'bed', 'cif', 'fasta', 'mgf', 'h5ad']) console.log(ending, mime.lookup(`a.${ending}`));
JS

expected="$(cat <<'SEEN'
smi application/smil+xml
vcf text/x-vcard
pdb application/vnd.palm
bed application/vnd.realvnc.bed
cif chemical/x-cif
fasta false
mgf false
h5ad false
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "mime-types@3.0.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
