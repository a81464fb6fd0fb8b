#!/usr/bin/env bash
# A network's default score of 0.5 and a score of 0.25 add up to "0.50.25"; no kinase is one, or each protein is.
# In GraphML a key may have a default, and a flag is true, false, 1 or 0. graphology-graphml gives a default as text whatever its type, and
# reads 1 as false. graphml-js drops defaults, and gives flags as text, so that "false" holds. Guess: the number 0.5 for each node without a
# score, and true for 1.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . graphml-js@0.4.0 graphology@0.26.0 graphology-graphml@0.5.2

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
const { MultiGraph } = require('graphology');
const { parse } = require('graphology-graphml');
const { GraphMLParser } = require('graphml-js');
const keys = `<key id="s" for="node" attr.name="score" attr.type="double"><default>0.5</default></key>
<key id="k" for="node" attr.name="kinase" attr.type="boolean"/>`;
const node = (id, kinase, score = '') => `<node id="${id}"><data key="k">${kinase}</data>${score && `<data key="s">${score}</data>`}</node>`;
const nodes = node('CDK1', 1) + node('EGFR', 'true', 0.25) + node('TP53', 'false');
const edges = '<edge source="CDK1" target="TP53"/><edge source="EGFR" target="TP53"/>';
const space = 'http://graphml.graphdrawing.org/xmlns';
const file = `<?xml version="1.0"?><graphml xmlns="${space}">${keys}<graph id="G" edgedefault="undirected">${nodes}${edges}</graph></graphml>`;
const graph = parse(MultiGraph, file);
console.log('graphology:', graph.mapNodes((id, { kinase, score }) => `${id} ${JSON.stringify({ score, kinase })}`).join(', '));
console.log('sum:', graph.reduceNodes((sum, _, { score }) => (sum === null ? score : sum + score), null));
new GraphMLParser().parse(file, (_, { nodes: read }) => {
  const shown = read.map(({ _id, _attributes: { kinase, score } }) => `${_id} ${JSON.stringify({ score, kinase })}`);
  console.log('graphml-js:', shown.join(', '));
});
JS

expected="$(cat <<'SEEN'
graphology: CDK1 {"score":"0.5","kinase":false}, EGFR {"score":0.25,"kinase":true}, TP53 {"score":"0.5","kinase":false}
sum: 0.50.250.5
graphml-js: CDK1 {"kinase":"1"}, EGFR {"score":0.25,"kinase":"true"}, TP53 {"kinase":"false"}
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "graphml-js@0.4.0, graphology@0.26.0, graphology-graphml@0.5.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
