#!/usr/bin/env bash
# Two clades of the same support become one.
# newick-js takes nodes with the same label for one node. Inner nodes are labelled with their bootstrap support, so that a tree in which two
# clades have a support of 95 loses one of them, and is written as another tree. Guess: eight nodes, and the same tree.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . newick-js@1.2.1

cat >try.mjs <<'JS'
import newick from 'newick-js';
for (const text of ['((A:1,B:2)95:3,(C:4,D:5)90:6,E:7);', '((A:1,B:2)95:3,(C:4,D:5)95:6,E:7);']) {
  const { graph, rootWeight } = newick.parse(text);
  const [nodes, branches] = graph;
  const sisters = [...branches].filter(([parent]) => parent.label === '95').map(([, child]) => child.label);
  console.log(`${text} has ${nodes.size} nodes, below 95: ${sisters.sort().join(' ')}, written ${newick.write(graph, rootWeight)}`);
}
JS

expected="$(cat <<'SEEN'
((A:1,B:2)95:3,(C:4,D:5)90:6,E:7); has 8 nodes, below 95: A B, written ((C:4,D:5)90:6,(A:1,B:2)95:3,E:7);
((A:1,B:2)95:3,(C:4,D:5)95:6,E:7); has 7 nodes, below 95: A B C D, written ((A:1,B:2,C:4,D:5)95:6,95:3,E:7);
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "newick-js@1.2.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
