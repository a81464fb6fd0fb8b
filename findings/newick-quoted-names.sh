#!/usr/bin/env bash
# A strain in quotation marks becomes a branch of the tree.
# Newick quotes names with parentheses. biojs-io-newick cuts at them all the same: E. coli (K-12) becomes an inner node with a leaf
# K-12. newick-js reads the name, but calls a missing length NaN, and a comment a name. Guess: one leaf; no length.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . biojs-io-newick@1.5.0 newick-js@1.2.1

cat >try.mjs <<'JS'
import biojs from 'biojs-io-newick';
import { parse } from 'newick-js';
const tree = "('Homo sapiens':1,'E. coli (K-12)':2)[by distance];";
console.log(JSON.stringify(biojs.parse_newick(tree)));
const { graph, root, rootWeight } = parse(tree);
console.log(JSON.stringify([...graph[0]]), JSON.stringify(root), rootWeight);
JS

expected="$(cat <<'SEEN'
{"children":[{"name":"'Homo sapiens'","branch_length":1},{"name":"'","children":[{"name":"K-12"}],"branch_length":2}],"name":"[by distance]"}
[{"label":"Homo sapiens"},{"label":"E. coli (K-12)"},{"label":"[by distance]"}] {"label":"[by distance]"} NaN
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "biojs-io-newick@1.5.0, newick-js@1.2.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
