#!/usr/bin/env bash
# Written and read back, heights of −1, 2, 3 and 4 are −254, 772, 0 and 0, and a count of 300 is 44.
# geotiff.js writes 16-bit and 32-bit signed integers byte by byte into one image of wider pixels. Rows of plain numbers become bytes: 300
# is 44, and 0.5 is 0. Nothing is said. Floats and unsigned integers in typed arrays are right. Guess: the same values, or an error.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . geotiff@3.0.5

cat >try.mjs <<'JS'
import { fromArrayBuffer, writeArrayBuffer } from 'geotiff';
async function readBack(values, metadata = {}) {
  const image = await (await fromArrayBuffer(writeArrayBuffer(values, { ...metadata }))).getImage();
  const [band] = await image.readRasters();
  return `${band.constructor.name} ${band.join(' ')}`;
}
const size = { width: 2, height: 2 };
for (const Numbers of [Int8Array, Int16Array, Int32Array, Float32Array]) console.log('-1 2 3 4:', await readBack(Numbers.of(-1, 2, 3, 4), size));
console.log('rows of counts:', await readBack([[[1, 300], [3, 4]]]));
console.log('rows of fractions:', await readBack([[[0.5, 1.5], [2.5, 3.5]]]));
JS

expected="$(cat <<'SEEN'
-1 2 3 4: Int8Array -1 2 3 4
-1 2 3 4: Int16Array -254 772 0 0
-1 2 3 4: Int32Array -16645372 0 0 0
-1 2 3 4: Float32Array -1 2 3 4
rows of counts: Uint8Array 1 44 3 4
rows of fractions: Uint8Array 0 1 2 3
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "geotiff@3.0.5, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
