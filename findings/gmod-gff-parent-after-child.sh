#!/usr/bin/env bash
# A coding region in two parts stands twice below its transcript.
# GFF3 lets a child stand before its parent. If it has two lines (one ID, two parts of a CDS), @gmod/gff lists the whole region twice
# below the parent: exons and lengths count double. Guess: once, as where the parent comes first.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @gmod/gff@2.0.0

cat >try.mjs <<'JS'
import { parseStringSync } from '@gmod/gff';
const parent = 'chr1\t.\tmRNA\t1\t100\t.\t+\t.\tID=m1\n';
const region = (start, end, phase) => `chr1\t.\tCDS\t${start}\t${end}\t.\t+\t${phase}\tID=c1;Parent=m1\n`;
const children = region(1, 9, 0) + region(20, 30, 0);
for (const text of [parent + children, children + parent]) {
  const [[transcript]] = parseStringSync(`##gff-version 3\n${text}`).filter(([{ type }]) => type === 'mRNA');
  const below = transcript.child_features.map((parts) => parts.map(({ start, end }) => `${start}-${end}`).join('+'));
  console.log(text.startsWith(parent) ? 'parent first:' : 'children first:', below.join(' and '));
}
JS

expected="$(cat <<'SEEN'
parent first: 1-9+20-30
children first: 1-9+20-30 and 1-9+20-30
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@gmod/gff@2.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
