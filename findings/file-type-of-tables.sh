#!/usr/bin/env bash
# A table whose first column is BMI is a picture, and one that begins with MZ is a program.
# Two letters at the beginning are enough for file-type and magic-bytes.js. A peak list with the heading MZ is an executable of Windows, a
# table of ID3 is an MP3 file, and with file-type one of MP+ and MP- is music. Guess: no type, since the rest is text.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . file-type@22.3.0 magic-bytes.js@1.13.1

cat >try.mjs <<'JS'
import { fileTypeFromBuffer } from 'file-type';
import { filetypeinfo } from 'magic-bytes.js';
for (const headings of ['BMI,age,sex', 'BMP4,TP53', 'MZ,INTENSITY', 'ID3,ID1', 'MP+,MP-', 'age,BMI']) {
  const table = Buffer.from(`${headings}\n${'24.1,52,1\n'.repeat(500)}`);
  console.log(headings, '=>', (await fileTypeFromBuffer(table))?.mime, '|', filetypeinfo(table).map(({ mime, typename }) => mime ?? typename).join() || undefined);
}
JS

expected="$(cat <<'SEEN'
BMI,age,sex => image/bmp | image/bmp
BMP4,TP53 => image/bmp | image/bmp
MZ,INTENSITY => application/x-msdownload | exe
ID3,ID1 => audio/mpeg | audio/mpeg
MP+,MP- => audio/x-musepack | undefined
age,BMI => undefined | undefined
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "file-type@22.3.0, magic-bytes.js@1.13.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
