#!/usr/bin/env bash
# The darkest pixels of a signed image are the brightest ones.
# A CT image may store 12 bits with a sign in words of 16. The sign is bit 11, as the bits above it need not repeat it. daikon reads the
# word without a sign, so -1 becomes 4095. Guess: 1, -1, -2048 and 2047.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . daikon@1.2.46

cat >try.mjs <<'JS'
import daikon from 'daikon';
const bytes = (...words) => Buffer.from(new Uint16Array(words).buffer);
function element(group, number, type, value) {
  const padded = value.length % 2 === 0 ? value : Buffer.concat([value, Buffer.from([type === 'UI' ? 0 : 32])]);
  const long = ['OB', 'OW'].includes(type);
  const length = long ? [bytes(0), Buffer.from(new Uint32Array([padded.length]).buffer)] : [bytes(padded.length)];
  return Buffer.concat([bytes(group, number), Buffer.from(type), ...length, padded]);
}
const text = (group, number, type, value) => element(group, number, type, Buffer.from(value));
const short = (number, value) => element(0x28, number, 'US', bytes(value));
const meta = [text(2, 2, 'UI', '1.2.840.10008.5.1.4.1.1.2'), text(2, 3, 'UI', '1.2.3'), text(2, 16, 'UI', '1.2.840.10008.1.2.1')];
const length = meta.reduce((sum, one) => sum + one.length, 0);
const head = [Buffer.alloc(128), Buffer.from('DICM'), element(2, 0, 'UL', Buffer.from(new Uint32Array([length]).buffer)), ...meta];
const image = [text(8, 0x16, 'UI', '1.2.840.10008.5.1.4.1.1.2'), text(8, 0x18, 'UI', '1.2.3'), text(8, 0x60, 'CS', 'CT')];
// Samples per pixel and what they mean, rows, columns, bits allocated, bits stored, high bit, and 1 for signed pixels.
image.push(short(2, 1), text(0x28, 4, 'CS', 'MONOCHROME2'), short(0x10, 2), short(0x11, 2));
image.push(short(0x100, 16), short(0x101, 12), short(0x102, 11), short(0x103, 1));
const file = Buffer.concat([...head, ...image, element(0x7fe0, 16, 'OW', bytes(0x001, 0xfff, 0x800, 0x7ff))]);
const view = new DataView(file.buffer.slice(file.byteOffset, file.byteOffset + file.length));
console.log(Array.from(daikon.Series.parseImage(view).getInterpretedData()).join(' '));
JS

expected="$(cat <<'SEEN'
1 4095 2048 2047
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "daikon@1.2.46, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
