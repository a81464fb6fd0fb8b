#!/usr/bin/env bash
# ml-array-xy-equally-spaced 1.2.1 resamples a flat signal of 5 onto the points that it has and gives 4.375 at both ends: the default
# "smooth" takes the mean over half a step beyond the data, where it thinks the signal falls to 0. A line that ends at 4 ends at 3.375.
# Guess: the same five values.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-array-xy-equally-spaced@1.2.1

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const module = createRequire(import.meta.url)('ml-array-xy-equally-spaced');
const equallySpaced = module.default ?? module;
const x = [0, 1, 2, 3, 4];
for (const y of [[5, 5, 5, 5, 5], [0, 1, 2, 3, 4], [-5, -5, -5, -5, -5]]) {
  for (const variant of ['smooth', 'slot']) console.log(variant, y.join(' '), '->', [...equallySpaced({ x, y }, { from: 0, to: 4, numberOfPoints: 5, variant }).y].join(' '));
}
JS

expected="$(cat <<'SEEN'
smooth 5 5 5 5 5 -> 4.375 5 5 5 4.375
slot 5 5 5 5 5 -> 5 5 5 5 5
smooth 0 1 2 3 4 -> 0.125 1 2 3 3.375
slot 0 1 2 3 4 -> 0 1 2 3 4
smooth -5 -5 -5 -5 -5 -> -4.375 -5 -5 -5 -4.375
slot -5 -5 -5 -5 -5 -> -5 -5 -5 -5 -5
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-array-xy-equally-spaced@1.2.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
