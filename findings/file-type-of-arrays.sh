#!/usr/bin/env bash
# Bytes of Parquet, Arrow and DICOM are told, those of HDF5, NumPy and FCS are not.
# HDF5 (also every .h5ad), NumPy arrays and flow cytometry data begin with a signature of their own; none is known, so an
# upload that is checked by its bytes calls them unknown. Guess: application/x-hdf5.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . file-type@21.3.4

cat >try.mjs <<'JS'
import { fileTypeFromBuffer } from 'file-type';
const bytes = (signature) => Buffer.concat([Buffer.from(signature, 'latin1'), Buffer.alloc(512)]);
const files = {
  parquet: bytes('PAR1'),
  arrow: bytes('ARROW1\0\0'),
  dicom: Buffer.concat([Buffer.alloc(128), bytes('DICM')]),
  hdf5: bytes('\x89HDF\r\n\x1a\n'),
  numpy: bytes('\x93NUMPY\x01\0'),
  fcs: bytes('FCS3.1          58     100'),
};
for (const [name, content] of Object.entries(files)) console.log(name, (await fileTypeFromBuffer(content))?.mime);
JS

expected="$(cat <<'SEEN'
parquet application/vnd.apache.parquet
arrow application/vnd.apache.arrow.file
dicom application/dicom
hdf5 undefined
numpy undefined
fcs undefined
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "file-type@21.3.4, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
