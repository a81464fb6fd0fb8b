#!/usr/bin/env bash
# E. coli are two sentences.
# sentence-splitter ends a sentence after the first letter of a genus, although a small letter follows, and after "Fig." and "Approx."; "et al.",
# "i.e." and "vs." it knows. A summary of the first sentence is "E.". Guess: one sentence for one.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . sentence-splitter@5.0.1

cat >try.mjs <<'JS'
import { split } from 'sentence-splitter';
const texts = [
  'E. coli K-12 was grown at 37 °C.',
  'H. pylori, C. elegans and D. melanogaster were used.',
  'Growth is shown in Fig. 1 and Table 2.',
  'Approx. 10 cells died.',
  'Krebs et al. saw it, i.e. cells vs. controls.',
];
for (const text of texts) {
  const sentences = split(text).filter(({ type }) => type === 'Sentence');
  console.log(`${sentences.length}: ${sentences.map(({ raw }) => raw).join(' | ')}`);
}
JS

expected="$(cat <<'SEEN'
2: E. | coli K-12 was grown at 37 °C.
4: H. | pylori, C. | elegans and D. | melanogaster were used.
2: Growth is shown in Fig. | 1 and Table 2.
2: Approx. | 10 cells died.
1: Krebs et al. saw it, i.e. cells vs. controls.
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "sentence-splitter@5.0.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
