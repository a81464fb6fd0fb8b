#!/usr/bin/env bash
# The first pixels of an image are those of the header that is to be skipped.
# NRRD can describe the data of another format: `byte skip` is the length of that format's header. nrrd-js reads the field and does not
# skip, so that the image is shifted and its end is missing. Guess: it skips, or gives no data, as for gzip.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . nrrd-js@0.2.1

cat >try.mjs <<'JS'
import nrrd from 'nrrd-js';
const pixels = Buffer.from(new Int16Array([10, 20, 30, 40]).buffer);
const other = Buffer.from(new Int16Array([7777, 8888]).buffer);
const behind = Buffer.concat([other, pixels]);
for (const [skip, data] of [['', pixels], ['byte skip: 4\n', behind], ['byte skip: -1\n', behind]]) {
  const header = `NRRD0004\ntype: short\ndimension: 2\nsizes: 2 2\nendian: little\nencoding: raw\n${skip}\n`;
  const image = nrrd.parse(Buffer.concat([Buffer.from(header), data]));
  console.log(skip.trim() || 'no skip', [...image.data].join(' '));
}
JS

expected="$(cat <<'SEEN'
no skip 10 20 30 40
byte skip: 4 7777 8888 10 20
byte skip: -1 7777 8888 10 20
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "nrrd-js@0.2.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
