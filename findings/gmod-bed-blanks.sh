#!/usr/bin/env bash
# @gmod/bed 2.3.0 reads a line of BED whose columns are apart by blanks, which the format allows as well as tabs, as one long chromosome name
# from NaN to NaN, without an error.
# Guess: the same six columns.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @gmod/bed@2.3.0

cat >try.mjs <<'JS'
import module from '@gmod/bed';
const Bed = module.default ?? module;
const parser = new Bed();
for (const line of ['chr7\t100\t200\tEGFR\t900\t+', 'chr7 100 200 EGFR 900 +', 'chr7\t100\t200']) {
  const { chrom, chromStart, chromEnd, name, score, strand } = parser.parseLine(line);
  console.log(JSON.stringify(line), '->', chrom, chromStart, chromEnd, name, score, strand);
}
JS

expected="$(cat <<'SEEN'
"chr7\t100\t200\tEGFR\t900\t+" -> chr7 100 200 EGFR 900 1
"chr7 100 200 EGFR 900 +" -> chr7 100 200 EGFR 900 + NaN NaN undefined undefined 0
"chr7\t100\t200" -> chr7 100 200 undefined undefined 0
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@gmod/bed@2.3.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
