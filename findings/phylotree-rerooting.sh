#!/usr/bin/env bash
# A tree with a new root has lost a branch at the old one: strains 5 apart are then 3 apart.
# A root has no length, so what led to it on both sides becomes one branch. phylotree takes the root's length for 0 and drops one side.
# One branch without a length makes all others 1 when the tree is written, and no date is found in the names, though their form is the
# default one. Guess: distances stay, the other lengths stay, and decimal years.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . phylotree@2.6.0

cat >try.mjs <<'JS'
import { extractDates, phylotree, rootToTip } from 'phylotree';
console.warn = () => {};
const fromCToA = (tree) => {
  const tips = rootToTip(tree).getTips().filter(({ data }) => data.name === 'C' || data.name === 'A');
  return tips.reduce((sum, { data }) => sum + data.rootToTip, 0);
};
for (const newick of ['((A:1,B:5):1,(C:1,D:1):2);', '(A:1,B:5,(C:1,D:1):2);']) {
  const tree = new phylotree(newick);
  const before = fromCToA(tree);
  tree.reroot(tree.getNodeByName('C'));
  console.log(`${newick} -> ${tree.getNewick()} from C to A ${before} -> ${fromCToA(tree)}`);
}
for (const newick of ['((A:0.1,B:0.2):0.3,C:0.4);', '((A:0.1,B:0.2):0.3,C);']) console.log(newick, '->', new phylotree(newick).getNewick());
const dated = extractDates(new phylotree('(A|2020-01-31:1,B|20200615:2);'));
for (const { data } of dated.getTips()) console.log(data.name, data.decimal_date_value);
JS

expected="$(cat <<'SEEN'
((A:1,B:5):1,(C:1,D:1):2); -> (C:0.5,(D:1,(A:1,B:5):1):0.5)new_root; from C to A 5 -> 3
(A:1,B:5,(C:1,D:1):2); -> (C:0.5,(D:1,(A:1,B:5)__reroot_top_clade:0):0.5)new_root; from C to A 4 -> 2
((A:0.1,B:0.2):0.3,C:0.4); -> ((A:0.1,B:0.2):0.3,C:0.4):0;
((A:0.1,B:0.2):0.3,C); -> ((A:1,B:1):1,C:1):1;
A|2020-01-31 null
B|20200615 null
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "phylotree@2.6.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
