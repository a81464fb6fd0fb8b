#!/usr/bin/env bash
# A preprint at the end of a sentence is not found, and a mass is one.
# identifiers-arxiv wants a space or the end of the text behind an id, so that those before a comma, full stop or bracket and those in links
# to the PDF are missing. Any number of four digits with four or five decimals is found.
# Guess: ids in sentences are found, and numbers without "arXiv" are not.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . identifiers-arxiv@0.1.1

cat >try.mjs <<'JS'
import arxiv from 'identifiers-arxiv';
const texts = ['see 2101.00001 and 1501.00001v2', 'see 2101.00001, 1501.00001v2.', '(arXiv:2101.00001)', 'https://arxiv.org/pdf/2101.00001.pdf'];
for (const text of [...texts, 'peaks at 1024.5000 and 512.2500 m/z']) console.log(text, '->', arxiv.extract(text).join(' ') || 'none');
JS

expected="$(cat <<'SEEN'
see 2101.00001 and 1501.00001v2 -> 2101.00001 1501.00001v2
see 2101.00001, 1501.00001v2. -> none
(arXiv:2101.00001) -> none
https://arxiv.org/pdf/2101.00001.pdf -> none
peaks at 1024.5000 and 512.2500 m/z -> 1024.5000
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "identifiers-arxiv@0.1.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
