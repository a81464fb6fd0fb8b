#!/usr/bin/env bash
# A count that is masked by a zero keeps its value.
# ml-sparse-matrix goes through the values that are not zero: of the mask when it multiplies, and of the matrix when it adds a number or takes
# the exponential. Guess: as in ml-matrix, where 2 times 0 is 0, 0 + 1 is 1 and exp(0) is 1.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-sparse-matrix@3.1.0 ml-matrix@6.15.1

cat >try.mjs <<'JS'
import { SparseMatrix } from 'ml-sparse-matrix';
import { Matrix } from 'ml-matrix';
const steps = {
  'counts times a mask': (Type) => new Type([[1, 2], [3, 4]]).mul(new Type([[1, 0], [0, 1]])),
  'counts + 1': (Type) => new Type([[0, 2], [3, 0]]).add(1),
  'exp of 0 and 1': (Type) => new Type([[0, 1]]).exp(),
};
for (const [name, step] of Object.entries(steps)) {
  const shown = [SparseMatrix, Matrix].map((Type) => JSON.stringify(step(Type).to2DArray()));
  console.log(`${name}: sparse ${shown[0]}, dense ${shown[1]}`);
}
JS

expected="$(cat <<'SEEN'
counts times a mask: sparse [[1,2],[3,4]], dense [[1,0],[0,4]]
counts + 1: sparse [[0,3],[4,0]], dense [[1,3],[4,1]]
exp of 0 and 1: sparse [[0,2.718281828459045]], dense [[1,2.718281828459045]]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-sparse-matrix@3.1.0, ml-matrix@6.15.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
