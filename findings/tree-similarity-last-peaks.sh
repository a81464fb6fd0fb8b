#!/usr/bin/env bash
# The last peak of a spectrum counts for nothing, and a spectrum is 0.66 like itself.
# createTree of ml-tree-similarity takes what lies from the first x to the last one, without the last: a fragment spectrum is compared without
# the ion that it comes from. A branch without children is unlike another one, so that equal trees are not 1. Guess: all peaks, and 1.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-tree-similarity@2.2.0

cat >try.mjs <<'JS'
import { createTree, treeSimilarity } from 'ml-tree-similarity';
const x = [100, 110, 120, 130, 140];
const full = [10, 20, 5, 10, 100];
const compare = (y) => treeSimilarity(createTree({ x, y: full }), createTree({ x, y })).toFixed(3);
console.log('intensity in the tree:', createTree({ x, y: full }).sum, 'of', full.reduce((total, value) => total + value));
console.log('compared with itself:', compare(full));
console.log('without the last peak:', compare([10, 20, 5, 10, 0]));
console.log('with a last peak ten times as high:', compare([10, 20, 5, 10, 1000]));
console.log('without the second peak:', compare([10, 0, 5, 10, 100]));
JS

expected="$(cat <<'SEEN'
intensity in the tree: 45 of 145
compared with itself: 0.662
without the last peak: 0.662
with a last peak ten times as high: 0.662
without the second peak: 0.499
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-tree-similarity@2.2.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
