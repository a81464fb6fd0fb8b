#!/usr/bin/env bash
# Three temperatures are four, and the last one is 0.
# NetCDF fills each variable up to a multiple of four bytes. netcdfjs hands that filling over as values, in every variable of bytes,
# characters or shorts whose length does not fit; it takes the number of values from the padded size. Guess: three values.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . netcdfjs@4.0.0

cat >try.mjs <<'JS'
import { NetCDFReader } from 'netcdfjs';
const int = (value) => Buffer.from([value >> 24, value >> 16, value >> 8, value]);
const padded = (bytes) => Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
const named = (name) => Buffer.concat([int(name.length), padded(Buffer.from(name))]);
// A file of one dimension "well" and one variable along it.
function values(name, type, data, length) {
  const size = padded(data).length;
  const head = [Buffer.from('CDF\x01'), int(0), int(10), int(1), named('well'), int(length), int(0), int(0), int(11), int(1), named(name)];
  head.push(int(1), int(0), int(0), int(0), int(type), int(size));
  const start = Buffer.concat(head).length + 4;
  return JSON.stringify(new NetCDFReader(Buffer.concat([...head, int(start), padded(data)])).getDataVariable(name));
}
const shorts = (...numbers) => Buffer.from(numbers.flatMap((number) => [number >> 8, number]));
console.log('2 temperatures:', values('temperature', 3, shorts(37, 38), 2));
console.log('3 temperatures:', values('temperature', 3, shorts(37, 38, 39), 3));
console.log('5 flags:', values('flag', 1, Buffer.from([1, 0, 1, 1, 1]), 5));
console.log('5 bases:', values('bases', 2, Buffer.from('ACGTA'), 5));
JS

expected="$(cat <<'SEEN'
2 temperatures: [37,38]
3 temperatures: [37,38,39,0]
5 flags: [[1],[0],[1],[1],[1],[0],[0],[0]]
5 bases: ["A","C","G","T","A","","",""]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "netcdfjs@4.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
