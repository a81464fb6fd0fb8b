#!/usr/bin/env bash
# One patient has a sepsi, one dog raby.
# pluralize takes the s off words that it does not know: of many diseases, organs and terms in -is, -as and -ies, one is no word, or another one.
# It counts "analysis" and "diagnosis" rightly. Guess: a sepsis, rabies, and an axis for one of the axes.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . pluralize@8.0.0

cat >try.mjs <<'JS'
import pluralize from 'pluralize';
const words = ['diagnosis', 'sepsis', 'metastasis', 'mitosis', 'tuberculosis', 'rabies', 'scabies', 'caries', 'pancreas', 'axis', 'axes', 'basis', 'bias'];
console.log(words.map((word) => `${word}: ${pluralize(word, 1, true)}`).join('\n'));
JS

expected="$(cat <<'SEEN'
diagnosis: 1 diagnosis
sepsis: 1 sepsi
metastasis: 1 metastasi
mitosis: 1 mitosi
tuberculosis: 1 tuberculosi
rabies: 1 raby
scabies: 1 scaby
caries: 1 cary
pancreas: 1 pancrea
axis: 1 axi
axes: 1 axe
basis: 1 basi
bias: 1 bia
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "pluralize@8.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
