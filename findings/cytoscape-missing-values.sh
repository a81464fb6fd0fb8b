#!/usr/bin/env bash
# A gene without a p-value is significant.
# In a selector of Cytoscape.js, null and an empty text count as 0, as does a cell of blanks: "[p < 0.05]" holds them. A gene that lacks the
# field is left out, and "[!p]" finds it together with a p-value of 0. Guess: no comparison holds for a missing value.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . cytoscape@3.34.4

cat >try.mjs <<'JS'
import cytoscape from 'cytoscape';
const genes = { BRCA1: 0.5, EGFR: 0.01, MDM2: null, MYC: '', TP53: ' ', KRAS: 0 };
const nodes = [...Object.entries(genes).map(([id, p]) => ({ data: { id, p } })), { data: { id: 'NRAS' } }];
const graph = cytoscape({ headless: true, elements: nodes });
for (const selector of ['[p < 0.05]', '[p >= 0]', '[!p]', '[p]']) {
  console.log(selector, graph.$(selector).map((node) => node.id()).join(' '));
}
JS

expected="$(cat <<'SEEN'
[p < 0.05] EGFR MDM2 MYC TP53 KRAS
[p >= 0] BRCA1 EGFR MDM2 MYC TP53 KRAS
[!p] MDM2 MYC KRAS NRAS
[p] BRCA1 EGFR MDM2 MYC TP53 KRAS
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "cytoscape@3.34.4, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
