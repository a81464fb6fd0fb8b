#!/usr/bin/env bash
# A description is its first word, and Ensembl's support level is "1.
# @gmod/gtf ends the value of an attribute at its first space, also between quotation marks, and leaves the first of these. Guess: the text
# between the quotation marks.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @gmod/gtf@0.0.9

cat >try.mjs <<'JS'
import module from '@gmod/gtf';
const attributes = [
  'gene_id "ENSG00000141510";',
  'gene_name "TP53";',
  'transcript_support_level "1 (assigned to previous version 5)";',
  'description "tumor protein p53, isoform a";',
].join(' ');
const features = module.default.parseStringSync(`chr17\thavana\ttranscript\t100\t200\t.\t-\t.\t${attributes}\n`);
for (const [name, value] of Object.entries(features.flat()[0].attributes)) console.log(`${name}: ${JSON.stringify(value)}`);
JS

expected="$(cat <<'SEEN'
gene_id: ["\"ENSG00000141510\""]
gene_name: ["\"TP53\""]
transcript_support_level: ["\"1"]
description: ["\"tumor"]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@gmod/gtf@0.0.9, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
