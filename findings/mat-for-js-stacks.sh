#!/usr/bin/env bash
# The second image of a stack from MATLAB is half the first one.
# Arrays of two dimensions come out right, row by row. In those of three, mat-for-js steps to the next plane by the number of rows alone,
# so that some pixels stand twice and the last ones nowhere. Guess: stack[row][column][plane], like the arrays of two dimensions.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . mat-for-js@1.1.0

cat >try.mjs <<'JS'
import { read } from 'mat-for-js';
const words = (...values) => Buffer.from(new Uint32Array(values).buffer);
const element = (type, data) => Buffer.concat([words(type, data.length), data, Buffer.alloc((8 - (data.length % 8)) % 8)]);
// A file of one array of doubles called "stack", its values in the order of MATLAB: down the rows first, the planes last.
function array(sizes, values) {
  const head = Buffer.alloc(128, ' ');
  head.write('MATLAB 5.0 MAT-file');
  head.set([0, 1, 'I'.charCodeAt(0), 'M'.charCodeAt(0)], 124);
  const parts = [element(6, words(6, 0)), element(5, words(...sizes)), element(1, Buffer.from('stack'))];
  const file = Buffer.concat([head, element(14, Buffer.concat([...parts, element(9, Buffer.from(new Float64Array(values).buffer))]))]);
  return JSON.stringify(read(file.buffer.slice(file.byteOffset, file.byteOffset + file.length)).data.stack);
}
console.log('2 rows, 3 columns:', array([2, 3], [1, 2, 3, 4, 5, 6]));
console.log('2 rows, 2 columns, 2 planes:', array([2, 2, 2], [1, 2, 3, 4, 5, 6, 7, 8]));
JS

expected="$(cat <<'SEEN'
2 rows, 3 columns: [[1,3,5],[2,4,6]]
2 rows, 2 columns, 2 planes: [[[1,3],[3,5]],[[2,4],[4,6]]]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "mat-for-js@1.1.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
