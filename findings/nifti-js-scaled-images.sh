#!/usr/bin/env bash
# A relaxation time of 120.5 ms is 1205, and a test with 2 and 57 degrees of freedom has 2 and 2.
# NIfTI stores whole numbers with a slope. nifti-js gives the stored ones, without the slope, and takes the first parameter of an image of
# F values for all three. Guess: 120.5 or a slope beside it, and 2 and 57.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . nifti-js@1.0.1

cat >try.mjs <<'JS'
import nifti from 'nifti-js';
const file = Buffer.alloc(352 + 4);
file.writeInt32LE(348, 0);
[3, 2, 1, 1, 1, 1, 1, 1].forEach((size, index) => file.writeInt16LE(size, 40 + 2 * index));
file.writeFloatLE(2, 56);
file.writeFloatLE(57, 60);
file.writeInt16LE(4, 68);
file.writeInt16LE(4, 70);
file.writeInt16LE(16, 72);
[1, 1, 1, 1].forEach((size, index) => file.writeFloatLE(size, 76 + 4 * index));
file.writeFloatLE(352, 108);
file.writeFloatLE(0.1, 112);
file.write('n+1\0', 344, 'latin1');
file.writeInt16LE(1205, 352);
file.writeInt16LE(900, 354);
const image = nifti.parse(file);
console.log('values', [...image.data].join(', '));
console.log('other fields', Object.keys(image).filter((name) => name !== 'data').join(', '));
const { intent_code, intent_p1, intent_p2, scl_slope } = nifti.parseNIfTIHeader(file);
console.log(`intent ${intent_code} with ${intent_p1} and ${intent_p2}, slope ${scl_slope.toFixed(1)}`);
JS

expected="$(cat <<'SEEN'
values 1205, 900
other fields dimension, type, encoding, endian, sizes, thicknesses, spacings, spaceDimension, buffer
intent 4 with 2 and 2, slope 0.1
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "nifti-js@1.0.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
