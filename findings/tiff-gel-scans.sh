#!/usr/bin/env bash
# The bands of a gel are bright in one reader, dark in another, and not there in a third.
# Scanners of gels store white as zero. `tiff` turns such values around, geotiff does not, and UTIF, which makes previews, shows 16 bits
# of them, and pixels with a fraction, as transparent, without an error. `tiff` also takes -1 of a signed image for 65535.
# Guess: the same values in `tiff` and geotiff, and a preview of each.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . tiff@7.1.3 geotiff@3.0.5 utif@3.1.0

cat >try.mjs <<'JS'
import { fromArrayBuffer } from 'geotiff';
import { decode } from 'tiff';
import UTIF from 'utif';
// Four pixels in a row. Kinds of samples: 1 for counts, 2 for signed numbers, 3 for numbers with a fraction.
function image(pixels, bits, { whiteIsZero = false, kind = 1 } = {}) {
  const tags = [
    [256, 4],
    [257, 1],
    [258, bits],
    [259, 1],
    [262, whiteIsZero ? 0 : 1],
    [273, 256],
    [277, 1],
    [278, 1],
    [279, pixels.length],
    [339, kind],
  ];
  const file = Buffer.alloc(256 + pixels.length);
  file.write('II*\0\b\0\0\0', 'latin1');
  file.writeUInt16LE(tags.length, 8);
  // Each tag is one number of four bytes.
  tags.forEach(([tag, value], i) => file.set(new Uint8Array(new Uint32Array([tag | (4 << 16), 1, value]).buffer), 10 + i * 12));
  pixels.copy(file, 256);
  return file.buffer.slice(file.byteOffset, file.byteOffset + file.length);
}
async function show(name, file) {
  const own = decode(new Uint8Array(file))[0].data;
  const [other] = await (await (await fromArrayBuffer(file)).getImage()).readRasters();
  const [page] = UTIF.decode(file);
  UTIF.decodeImage(file, page);
  const preview = UTIF.toRGBA8(page).filter((_, i) => i % 4 === 3);
  console.log(`${name}: tiff ${own.join(' ')}; geotiff ${other.join(' ')}; opacity of UTIF's preview ${preview.join(' ')}`);
}
const bytes = (array) => Buffer.from(array.buffer);
await show('black is zero', image(bytes(new Uint16Array([1, 2, 300, 65535])), 16));
await show('white is zero', image(bytes(new Uint16Array([1, 2, 300, 65535])), 16, { whiteIsZero: true }));
await show('signed', image(bytes(new Int16Array([-1, 2, -300, 32767])), 16, { kind: 2 }));
await show('fractions', image(bytes(new Float32Array([0.5, 1, 2, 4])), 32, { kind: 3 }));
JS

expected="$(cat <<'SEEN'
black is zero: tiff 1 2 300 65535; geotiff 1 2 300 65535; opacity of UTIF's preview 255 255 255 255
white is zero: tiff 65534 65533 65235 0; geotiff 1 2 300 65535; opacity of UTIF's preview 0 0 0 0
signed: tiff 65535 2 65236 32767; geotiff -1 2 -300 32767; opacity of UTIF's preview 255 255 255 255
fractions: tiff 0.5 1 2 4; geotiff 0.5 1 2 4; opacity of UTIF's preview 0 0 0 0
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "tiff@7.1.3, geotiff@3.0.5, utif@3.1.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
