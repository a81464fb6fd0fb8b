#!/usr/bin/env bash
# Every second image that lies the other way round has no positions.
# NIfTI stores three parts of a rotation as single floats; for half a turn, rounding may bring their squares to above 1. The reference code of
# the format takes 0 for the fourth part then. nifti-reader-js takes the root of a negative number. Guess: the positions.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . nifti-reader-js@0.8.0

cat >try.mjs <<'JS'
import * as nifti from 'nifti-reader-js';
function header(quaternion) {
  const file = Buffer.alloc(352 + 8);
  file.writeInt32LE(348, 0);
  [3, 2, 2, 1, 1, 1, 1, 1].forEach((size, index) => file.writeInt16LE(size, 40 + 2 * index));
  file.writeInt16LE(4, 70);
  file.writeInt16LE(16, 72);
  [1, 2, 2, 2, 1, 1, 1, 1].forEach((size, index) => file.writeFloatLE(size, 76 + 4 * index));
  file.writeFloatLE(352, 108);
  file.writeInt16LE(1, 252);
  quaternion.forEach((value, index) => file.writeFloatLE(value, 256 + 4 * index));
  file.write('n+1\0', 344, 'latin1');
  return nifti.readHeader(file.buffer.slice(file.byteOffset, file.byteOffset + file.length));
}
const show = (title, quaternion) => console.log(`${title}: ${header(quaternion).affine[0].map((value) => value.toFixed(2)).join(' ')}`);
show('not turned', [0, 0, 0]);
show('turned half round one axis', [0, 0, 1]);
show('turned half round an axis between two', [0, 0.6, 0.8]);
show('turned half round a tilted axis', [0, Math.sin(0.1), Math.cos(0.1)]);
let without = 0;
for (let degree = 1; degree < 90; degree += 1) {
  const angle = (degree * Math.PI) / 180;
  if (Number.isNaN(header([0, Math.sin(angle), Math.cos(angle)]).affine[0][0])) without += 1;
}
console.log(`of 89 tilted axes, ${without} have no positions`);
JS

expected="$(cat <<'SEEN'
not turned: 2.00 0.00 0.00 0.00
turned half round one axis: -2.00 0.00 0.00 0.00
turned half round an axis between two: NaN NaN NaN 0.00
turned half round a tilted axis: NaN NaN NaN 0.00
of 89 tilted axes, 48 have no positions
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "nifti-reader-js@0.8.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
