#!/usr/bin/env bash
# No gene of a GTF file is equal to its id.
# Attributes keep their quotation marks: the id is "ENSG01", marks included, while numbers have none; and a quoted note ends at its first
# semicolon. In GTF 2.2 the marks stand around a text value and are no part of it. Guess: ENSG01, and the whole note.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . gtf-nostream@1.3.4

cat >try.mjs <<'JS'
import gtf from 'gtf-nostream';
const attributes = 'gene_id "ENSG01"; level 2; note "kinase; membrane"; tag "basic";';
const [[gene]] = gtf.parseStringSync(`chr1\tHAVANA\tgene\t1\t100\t.\t+\t.\t${attributes}\n`);
for (const [key, values] of Object.entries(gene.attributes)) console.log(key, values.join(' | '));
console.log('ENSG01 is found:', gene.attributes.gene_id.includes('ENSG01'));
JS

expected="$(cat <<'SEEN'
gene_id "ENSG01"
level 2
note "kinase
tag "basic"
ENSG01 is found: false
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "gtf-nostream@1.3.4, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
