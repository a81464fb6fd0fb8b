#!/usr/bin/env bash
# A PDF figure of a notebook is saved as a .json file that holds base64.
# nbtx's README says how to put large outputs into files: named by `extFromMimeType`, in the `encoding` of the cache. It knows images and
# text; anything else is .json, and is written as text. Tables of CSV become .txt. Guess: .pdf in bytes, .mol and .csv.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . nbtx@0.4.0

cat >try.mjs <<'JS'
import { createHash } from 'node:crypto';
import { extFromMimeType, minifyCellOutput, walkOutputs } from 'nbtx';
const figure = (type, content) => ({ output_type: 'display_data', metadata: {}, data: { [type]: content } });
const outputs = [
  figure('image/png', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').toString('base64')),
  figure('application/pdf', Buffer.from('%PDF-1.4\n').toString('base64')),
  figure('chemical/x-mdl-molfile', ['\n', 'made\n', '\n', '  0  0  0  0  0  0  0  0  0  0999 V2000\n', 'M  END\n']),
  figure('text/csv', ['well,ct\n', 'A1,21.4\n']),
];
const cache = {};
const computeHash = (text) => createHash('md5').update(text).digest('hex');
const made = await minifyCellOutput(outputs, cache, { computeHash, maxCharacters: 1 });
walkOutputs(made, ({ hash }) => {
  const [content, { contentType, encoding }] = cache[hash];
  const start = Buffer.from(content, encoding).toString('latin1', 0, 8);
  console.log(contentType, extFromMimeType(contentType), encoding, JSON.stringify(start.replaceAll(/[^ -~]/g, '.')));
});
JS

expected="$(cat <<'SEEN'
image/png .png base64 ".PNG...."
application/pdf .json utf8 "JVBERi0x"
chemical/x-mdl-molfile .json utf8 ".made.. "
text/csv .txt utf8 "well,ct."
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "nbtx@0.4.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
