#!/usr/bin/env bash
# ml-array-xy-weighted-merge 1.0.2 gives NaN as the mass of every point with an intensity of 0 (0 divided by 0), so a spectrum with zeros
# loses the x of them. Its window of 0.001 goes on from point to point: five peaks from 1 to 1.0032 are one at 1.0016.
# Guess: the position of a zero is kept, and a group is as wide as its window at most.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-array-xy-weighted-merge@1.0.2

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const module = createRequire(import.meta.url)('ml-array-xy-weighted-merge');
const merge = module.default ?? module;
for (const points of [{ x: [1, 1.0005, 2], y: [0, 0, 3] }, { x: [1, 2, 3], y: [4, 0, 5] }, { x: [1, 1.0008, 1.0016, 1.0024, 1.0032], y: [1, 1, 1, 1, 1] }]) {
  const { x, y } = merge(structuredClone(points), { groupWidth: 0.001 });
  console.log(points.x.join(' '), 'with', points.y.join(' '), '->', x.map((value) => Number(value.toFixed(4))).join(' '), 'with', y.join(' '));
}
JS

expected="$(cat <<'SEEN'
1 1.0005 2 with 0 0 3 -> NaN 2 with 0 3
1 2 3 with 4 0 5 -> 1 NaN 3 with 4 0 5
1 1.0008 1.0016 1.0024 1.0032 with 1 1 1 1 1 -> 1.0016 with 5
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-array-xy-weighted-merge@1.0.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
