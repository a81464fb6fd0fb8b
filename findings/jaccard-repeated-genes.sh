#!/usr/bin/env bash
# Two lists of the same genes are one and a half times as alike as equal lists.
# jaccard counts a gene that is listed twice two times among those in common, and once among all. Guess: 1 and 0, as for the sets.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . jaccard@0.4.0

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const jaccard = createRequire(import.meta.url)('jaccard');
for (const genes of [['TP53', 'KRAS'], ['TP53', 'TP53', 'KRAS'], ['TP53', 'TP53', 'TP53', 'EGFR']]) {
  const other = ['TP53', 'KRAS'];
  const [left, right] = [new Set(genes), new Set(other)];
  const both = [...left].filter((gene) => right.has(gene)).length;
  const sets = both / (left.size + right.size - both);
  console.log(`${genes} and ${other}: index ${jaccard.index(genes, other)}, distance ${jaccard.distance(genes, other)}, of the sets ${sets}`);
}
JS

expected="$(cat <<'SEEN'
TP53,KRAS and TP53,KRAS: index 1, distance 0, of the sets 1
TP53,TP53,KRAS and TP53,KRAS: index 1.5, distance -0.5, of the sets 1
TP53,TP53,TP53,EGFR and TP53,KRAS: index 1, distance 0, of the sets 0.3333333333333333
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "jaccard@0.4.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
