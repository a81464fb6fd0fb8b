#!/usr/bin/env bash
# No gene of a 10x Genomics matrix is equal to its name.
# HDF5 stores names of a fixed length, filled with zero bytes; 10x and pandas' tables do. jsfive keeps the zero bytes, so TP53 is not
# found. Guess: the names without them, as h5wasm reads them.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . jsfive@0.4.2 h5wasm@0.10.3

cat >try.mjs <<'JS'
import { readFileSync } from 'node:fs';
import h5wasm from 'h5wasm/node';
import { File } from 'jsfive';
await h5wasm.ready;
const written = new h5wasm.File('matrix.h5', 'w');
written.create_dataset({ name: 'genes', data: ['TP53', 'BRCA1'], dtype: 'S8' });
written.close();
const { buffer } = new Uint8Array(readFileSync('matrix.h5'));
const read = new File(buffer, 'matrix.h5');
const again = new h5wasm.File('matrix.h5', 'r');
const names = { h5wasm: again.get('genes').value, jsfive: read.get('genes').value };
for (const [library, genes] of Object.entries(names)) console.log(library, JSON.stringify(genes), 'TP53 found:', genes.includes('TP53'));
JS

expected="$(cat <<'SEEN'
h5wasm ["TP53","BRCA1"] TP53 found: true
jsfive ["TP53\u0000\u0000\u0000\u0000","BRCA1\u0000\u0000\u0000"] TP53 found: false
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "jsfive@0.4.2, h5wasm@0.10.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
