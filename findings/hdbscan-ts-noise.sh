#!/usr/bin/env bash
# More than half of the cells of three separate populations are noise.
# Each population has 30 cells, and the next one is ten standard deviations away. In HDBSCAN a cluster that loses a few cells goes on, and
# they keep its label. hdbscan-ts takes each such loss for a new cluster, chooses the densest one, and calls the others noise. Guess: nearly
# all cells in three clusters.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . hdbscan-ts@1.0.17

cat >try.mjs <<'JS'
import { HDBSCAN } from 'hdbscan-ts';
let seed = 42;
function random() {
  seed = (seed * 16807) % 2147483647;
  return seed / 2147483647;
}
const normal = () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
const around = ([x, y]) => Array.from({ length: 30 }, () => [x + normal(), y + normal()]);
const labels = new HDBSCAN({ minClusterSize: 10 }).fit([[0, 0], [10, 0], [0, 10]].flatMap(around));
const noise = (list) => list.filter((label) => label === -1).length;
for (const start of [0, 30, 60]) console.log('of 30 cells are noise:', noise(labels.slice(start, start + 30)));
const line = (from) => Array.from({ length: 10 }, (_, index) => [from + index / 10, 0]);
console.log('ten evenly spaced points, twice:', new HDBSCAN({ minClusterSize: 5 }).fit([...line(0), ...line(10)]).join(' '));
JS

expected="$(cat <<'SEEN'
of 30 cells are noise: 16
of 30 cells are noise: 13
of 30 cells are noise: 20
ten evenly spaced points, twice: -1 -1 0 0 0 0 0 0 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "hdbscan-ts@1.0.17, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
