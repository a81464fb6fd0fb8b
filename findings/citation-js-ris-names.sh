#!/usr/bin/env bash
# A reference written as RIS loses the particle of a name and its PMID.
# Citation.js writes "van der Waals" as "Waals", leaves out the PMID, and breaks a long title inside a word. Guess: the whole name, and
# the PMID as an accession number.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @citation-js/core@0.8.2 @citation-js/plugin-ris@0.8.2

cat >try.mjs <<'JS'
import { Cite } from '@citation-js/core';
import '@citation-js/plugin-ris';
const work = {
  id: 'w',
  type: 'article-journal',
  title: 'On the continuity of gases and liquids, and on what is to be found somewhere between them',
  author: [{ family: 'Waals', given: 'J. D.', 'non-dropping-particle': 'van der' }],
  PMID: '12345678',
};
console.log(new Cite([work]).format('ris').trim());
JS

expected="$(cat <<'SEEN'
TY  - JOUR
AU  - Waals, J. D.
ID  - w
TI  - On the continuity of gases and liquids, and on what is to be found som
ewhere between them
ER  -
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@citation-js/core@0.8.2, @citation-js/plugin-ris@0.8.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
