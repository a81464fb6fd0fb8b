#!/usr/bin/env bash
# An INFO key without a value reads like a flag.
# `DP=` (an integer of the header, left empty as some filters leave it) becomes `true`, as a flag does, and so counts as 1 in sums.
# Guess: undefined, as for `DP=.`.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @gmod/vcf@7.2.0

cat >try.mjs <<'JS'
import vcf from '@gmod/vcf';
const header = [
  '##fileformat=VCFv4.2',
  '##INFO=<ID=DP,Number=1,Type=Integer,Description="Depth">',
  '#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO',
].join('\n');
const parser = new (vcf.default ?? vcf)({ header });
for (const info of ['DP=7', 'DP=.', 'DP=']) console.log(info, parser.parseLine(`chr1\t9\t.\tA\tG\t.\t.\t${info}`).INFO.DP);
JS

expected="$(cat <<'SEEN'
DP=7 [ 7 ]
DP=. [ undefined ]
DP= true
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@gmod/vcf@7.2.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
