#!/usr/bin/env bash
# An image is black if its parts lie in folders, or if its links have expired.
# Zarr 2 may name parts 0/1 instead of 0.1 (`dimension_separator`), as OME-Zarr does. zarr-js asks for 0.1, and takes a part that is not
# there for one of fill values: also one that an object store refuses with 403. Arrays in Fortran's order are turned around.
# Guess: the same counts each time, or an error that names the setting; and an error for 403.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . zarr-js@3.3.0

cat >try.mjs <<'JS'
import { promisify } from 'node:util';
import zarr from 'zarr-js';
const counts = (...values) => Buffer.from(new Uint16Array(values).buffer);
async function load(settings, parts, missing = 404) {
  const meta = { zarr_format: 2, shape: [2, 4], chunks: [2, 2], dtype: '<u2', compressor: null, fill_value: 0, order: 'C', filters: null };
  const files = { '.zarray': Buffer.from(JSON.stringify({ ...meta, ...settings })), ...parts };
  const get = async (path) => {
    const file = files[path.replace('image/', '')];
    return new Response(file, { status: file ? 200 : missing });
  };
  const array = await promisify(zarr(get).load)('image');
  return [0, 1].map((row) => [0, 1, 2, 3].map((column) => array.get(row, column)).join(' ')).join(' | ');
}
console.log('0.0 and 0.1:', await load({}, { '0.0': counts(1, 2, 5, 6), '0.1': counts(3, 4, 7, 8) }));
console.log('0/0 and 0/1:', await load({ dimension_separator: '/' }, { '0/0': counts(1, 2, 5, 6), '0/1': counts(3, 4, 7, 8) }));
console.log("Fortran's order:", await load({ order: 'F' }, { '0.0': counts(1, 5, 2, 6), '0.1': counts(3, 7, 4, 8) }));
console.log('0.1 refused with 403:', await load({}, { '0.0': counts(1, 2, 5, 6) }, 403));
JS

expected="$(cat <<'SEEN'
0.0 and 0.1: 1 2 3 4 | 5 6 7 8
0/0 and 0/1: 0 0 0 0 | 0 0 0 0
Fortran's order: 1 5 3 7 | 2 6 4 8
0.1 refused with 403: 1 2 0 0 | 5 6 0 0
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "zarr-js@3.3.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
