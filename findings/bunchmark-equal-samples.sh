#!/usr/bin/env bash
# @bunchmark/stats 1.0.0-pre-5 gives two samples that are the same a p-value of 1.04: its correction for continuity takes half a unit off a
# difference of 0 too, so z is below 0, and p is twice the upper tail.
# Guess: a probability, 1 at most.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @bunchmark/stats@1.0.0-pre-5

cat >try.mjs <<'JS'
import { mwu } from '@bunchmark/stats';
const values = [1, 2, 3, 4, 5, 6, 7, 8];
for (const other of [[1, 2, 3, 4, 5, 6, 7, 8], [9, 10, 11, 12, 13, 14, 15, 16]]) {
  const { U, z, p } = mwu([...values], [...other]);
  console.log('U', U, 'z', z.toFixed(4), 'p', p.toFixed(4));
}
JS

expected="$(cat <<'SEEN'
U 32 z -0.0528 p 1.0423
U 64 z 3.3082 p 0.0009
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@bunchmark/stats@1.0.0-pre-5, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
