#!/usr/bin/env bash
# A spectrum with exponents has three times as many points, all wrong.
# JCAMP-DX lets plain numbers (AFFN) have exponents. The letter E is also a packed digit (5), and jcampconverter always reads it as
# one: four values become twelve, and NPOINTS is not compared. Guess: four values.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . jcampconverter@12.5.3

cat >try.mjs <<'JS'
import { convert } from 'jcampconverter';
const lines = ['TITLE=blank', 'JCAMP-DX=4.24', 'DATA TYPE=INFRARED SPECTRUM', 'ORIGIN=x', 'OWNER=x', 'XUNITS=1/CM', 'YUNITS=ABSORBANCE'];
const numbers = ['FIRSTX=400', 'LASTX=403', 'NPOINTS=4', 'XFACTOR=1', 'YFACTOR=1', 'XYDATA=(X++(Y..Y))'];
const file = [...lines, ...numbers].map((line) => `##${line}`).join('\n');
for (const row of ['400 0.001 0.002 0.003 0.004', '400 1E-3 2E-3 3E-3 4E-3'])
  console.log(row, '->', JSON.stringify(convert(`${file}\n${row}\n##END=\n`).flatten[0].spectra[0].data.y));
JS

expected="$(cat <<'SEEN'
400 0.001 0.002 0.003 0.004 -> [0.001,0.002,0.003,0.004]
400 1E-3 2E-3 3E-3 4E-3 -> [1,5,-3,2,5,-3,3,5,-3,4,5,-3]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "jcampconverter@12.5.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
