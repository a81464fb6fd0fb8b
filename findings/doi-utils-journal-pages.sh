#!/usr/bin/env bash
# All articles of Nucleic Acids Research have the same DOI.
# Outside doi.org, doi-utils takes two parts of a page's path for a DOI; those of Oxford's journals have three. A PDF of bioRxiv keeps its
# version and the ends of its name. Guess: 10.1093/nar/gkx0001, and 10.1101/2026.01.31.000001 for both pages.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . doi-utils@2.0.6

cat >try.mjs <<'JS'
import { normalize } from 'doi-utils';
const pages = [
  'https://doi.org/10.1093/nar/gkx0001',
  'https://academic.oup.com/nar/article-lookup/doi/10.1093/nar/gkx0001',
  'https://www.biorxiv.org/content/10.1101/2026.01.31.000001v2',
  'https://www.biorxiv.org/content/10.1101/2026.01.31.000001v2.full.pdf',
];
for (const page of pages) console.log(page, '->', normalize(page));
JS

expected="$(cat <<'SEEN'
https://doi.org/10.1093/nar/gkx0001 -> 10.1093/nar/gkx0001
https://academic.oup.com/nar/article-lookup/doi/10.1093/nar/gkx0001 -> 10.1093/nar
https://www.biorxiv.org/content/10.1101/2026.01.31.000001v2 -> 10.1101/2026.01.31.000001
https://www.biorxiv.org/content/10.1101/2026.01.31.000001v2.full.pdf -> 10.1101/2026.01.31.000001v2.full.pdf
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "doi-utils@2.0.6, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
