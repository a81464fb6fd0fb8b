#!/usr/bin/env bash
# A region that begins before the first exon holds only the end of the last one.
# interval-tree2 looks for the points from the start of a range on. Before the first point their place is -1, which for slice is the last
# point. An interval that was removed stays in the answer as undefined. Guess: all intervals that overlap the range.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . interval-tree2@1.1.0

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const IntervalTree = createRequire(import.meta.url)('interval-tree2');
const exons = [[100, 200, 'exon 1'], [300, 400, 'exon 2'], [500, 600, 'exon 3']];
const tree = new IntervalTree(350);
for (const [start, end, id] of exons) tree.add(start, end, id);
const names = (found) => found.map((one) => one?.id).join(', ') || 'none';
for (const [start, end] of [[100, 1000], [50, 1000], [50, 250], [150, 350]]) {
  const overlapping = exons.filter((exon) => exon[0] <= end && exon[1] >= start).map((exon) => ({ id: exon[2] }));
  console.log(`${start} to ${end}: ${names(tree.search(start, end))} - overlapping: ${names(overlapping)}`);
}
tree.remove('exon 2');
console.log('100 to 1000 without exon 2:', names(tree.search(100, 1000)));
JS

expected="$(cat <<'SEEN'
100 to 1000: exon 1, exon 2, exon 3 - overlapping: exon 1, exon 2, exon 3
50 to 1000: exon 3 - overlapping: exon 1, exon 2, exon 3
50 to 250: none - overlapping: exon 1
150 to 350: exon 1, exon 2 - overlapping: exon 1, exon 2
100 to 1000 without exon 2: exon 1, , exon 3
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "interval-tree2@1.1.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
