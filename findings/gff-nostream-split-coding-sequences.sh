#!/usr/bin/env bash
# A coding sequence of three exons has nine.
# In GFF3 a coding sequence is one line for each of its parts, all with one ID. gff-nostream's parseStringSync gives the transcript the
# whole sequence once for each line, so that it is two, three or twenty times too long. @gmod/gff, its older sister, gives it once. Guess:
# once.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @gmod/gff@2.0.0 gff-nostream@3.0.2

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
import { parseStringSync } from 'gff-nostream';
const older = createRequire(import.meta.url)('@gmod/gff');
const row = (type, start, end, attributes) => `chr1\tx\t${type}\t${start}\t${end}\t.\t+\t${type === 'CDS' ? 0 : '.'}\t${attributes}\n`;
const parts = [[1, 90], [201, 290], [401, 490]];
const file = `##gff-version 3\n${row('mRNA', 1, 490, 'ID=m1')}${parts.map(([start, end]) => row('CDS', start, end, 'ID=c1;Parent=m1')).join('')}`;
for (const [name, parse] of [['gff-nostream', parseStringSync], ['@gmod/gff', older.parseStringSync]]) {
  const [[transcript]] = parse(file);
  const found = transcript.child_features.flat();
  console.log(`${name}:`, found.length, 'parts,', found.reduce((sum, { start, end }) => sum + end - start + 1, 0), 'bases');
}
JS

expected="$(cat <<'SEEN'
gff-nostream: 9 parts, 810 bases
@gmod/gff: 3 parts, 270 bases
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@gmod/gff@2.0.0, gff-nostream@3.0.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
