#!/usr/bin/env bash
# A dendrogram in Newick has no heights; all its distances are 0.
# @gmod/hclust writes the height of a cluster where Newick has a name, so that its own reader takes 8.6667 for a name and each height for 0.
# A sample whose name has a comma becomes two. The distances in the result are never filled. Guess: the tree read back, the distances given.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @gmod/hclust@1.0.7

cat >try.mjs <<'JS'
import { clusterData, fromNewick, toNewick } from '@gmod/hclust';
const { distances, tree } = await clusterData({ data: [[0], [1], [3], [10]], sampleLabels: ['wt', 'ko', 'ko, wt', 'het'] });
const lines = ({ children = [], height, name }) => [`${name} at ${height.toFixed(2)}`, ...children.flatMap(lines)];
console.log('made: ', lines(tree).join(', '));
const text = toNewick(tree);
console.log('text: ', text);
console.log('read: ', lines(fromNewick(text)).join(', '));
console.log('largest distance:', Math.max(...distances));
JS

expected="$(cat <<'SEEN'
made:  Cluster 2 at 8.67, het at 0.00, Cluster 1 at 2.50, ko, wt at 0.00, Cluster 0 at 1.00, wt at 0.00, ko at 0.00
text:  (het,(ko, wt,(wt,ko)1.0000)2.5000)8.6667
read:  8.6667 at 0.00, het at 0.00, 2.5000 at 0.00, ko at 0.00, wt at 0.00, 1.0000 at 0.00, wt at 0.00, ko at 0.00
largest distance: 0
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@gmod/hclust@1.0.7, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
