#!/usr/bin/env bash
# A search for CD4 finds CD44, and one for CCR2 the complement receptor CR2.
# FlexSearch's default encoder writes repeated letters and digits once, in the index and in the query. IL2 and IL22, CD4 and CD44, miR-21
# and miR-221, 10 mM and 100 mM are one term each, and the wrong one can stand first. The encoder "Exact" keeps them apart. Guess: a gene
# finds its own name alone.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . flexsearch@0.8.212

cat >try.mjs <<'JS'
import { Charset, Index } from 'flexsearch';
const names = ['IL22', 'IL2', 'CD44', 'CD4', 'CR2', 'CCR2', 'miR-221', 'miR-21', 'HBB', 'HB', '100 mM', '10 mM'];
function find(options) {
  const index = new Index(options);
  for (const [id, name] of names.entries()) index.add(id, name);
  return (query) => index.search(query).map((id) => names[id]).join(', ');
}
const [byDefault, exactly] = [find({}), find({ encoder: Charset.Exact })];
for (const query of ['IL2', 'CD4', 'CCR2', 'miR-21', 'HBB', '10 mM']) console.log(`${query}: ${byDefault(query)} | exact: ${exactly(query)}`);
JS

expected="$(cat <<'SEEN'
IL2: IL22, IL2 | exact: IL2
CD4: CD44, CD4 | exact: CD4
CCR2: CR2, CCR2 | exact: CCR2
miR-21: miR-221, miR-21 | exact: miR-21
HBB: HBB, HB | exact: HBB
10 mM: 100 mM, 10 mM | exact: 10 mM
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "flexsearch@0.8.212, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
