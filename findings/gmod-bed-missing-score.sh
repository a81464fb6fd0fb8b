#!/usr/bin/env bash
# A BED line whose score is a dot has a field4 instead of a score.
# The name of the column changes with its value: `.`, which many peak callers write, comes back as text in `field4`, and a strand of
# `.` in `field5` beside `strand` 0. Guess: no score, under its own name.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @gmod/bed@2.3.0

cat >try.mjs <<'JS'
import bed from '@gmod/bed';
const parser = new (bed.default ?? bed)();
for (const score of ['5', '.']) console.log(JSON.stringify(parser.parseLine(`chr1\t0\t10\tpeak\t${score}\t-`)));
JS

expected="$(cat <<'SEEN'
{"chrom":"chr1","chromStart":0,"chromEnd":10,"name":"peak","score":5,"strand":-1}
{"chrom":"chr1","chromStart":0,"chromEnd":10,"name":"peak","field4":".","strand":-1}
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@gmod/bed@2.3.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
