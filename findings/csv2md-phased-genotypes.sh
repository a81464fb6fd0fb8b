#!/usr/bin/env bash
# A heterozygote of KRAS is what the phased genotype of TP53 leaves of it.
# In a Markdown table a bar within a cell has to be escaped. csv2md writes it as it is, so that 0|1 becomes two cells, what follows moves to
# the right and the last cells fall off. A line break within a quoted cell ends the row. Guess: escaped, as its output is for Markdown.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . csv2md@1.1.0 markdown-it@14.1.0

cat >try.mjs <<'JS'
import { csv2md } from 'csv2md';
import MarkdownIt from 'markdown-it';
for (const csv of ['sample,TP53,KRAS\nS1,0/1,1/1\n', 'sample,TP53,KRAS\nS1,0|1,1|1\n', 'sample,note\nS2,"clotted\ntwice"\n']) {
  const html = new MarkdownIt().render(await csv2md(csv));
  const rows = [...html.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row]) => [...row.matchAll(/<t[hd]>(.*?)<\/t/g)].map(([, cell]) => cell).join(', '));
  console.log(JSON.stringify(csv), '->', rows.join('; '));
}
JS

expected="$(cat <<'SEEN'
"sample,TP53,KRAS\nS1,0/1,1/1\n" -> sample, TP53, KRAS; S1, 0/1, 1/1
"sample,TP53,KRAS\nS1,0|1,1|1\n" -> sample, TP53, KRAS; S1, 0, 1
"sample,note\nS2,\"clotted\ntwice\"\n" -> sample, note; S2, clotted; twice, 
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "csv2md@1.1.0, markdown-it@14.1.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
