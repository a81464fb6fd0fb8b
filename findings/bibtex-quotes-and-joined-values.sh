#!/usr/bin/env bash
# A title ends at a quotation mark in braces, and so does the entry; a year is filed under the letters of a note.
# BibTeX allows {"} inside "…", and joins values by #. bibtex-parse-js and its copy of ORCID end the value and the entry there, without an
# error. bib2json joins nothing, and takes the second part for the name of the next field. Guess: the title `The "open" genome`, and the
# year 2026.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @orcid/bibtex-parse-js@0.0.25 bib2json@0.0.1 bibtex-parse-js@0.0.24

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
const quoted = '@article{k, title = "The {"}open{"} genome", year = {2026}, doi = {10.1000/1}}';
const joined = '@article{k, note = "in " # "press", year = {2026}, doi = {10.1000/1}}';
for (const name of ['bibtex-parse-js', '@orcid/bibtex-parse-js']) {
  console.log(`${name}:`, JSON.stringify(require(name).toJSON(quoted).map((entry) => entry.entryTags)));
}
const { entries, errors } = require('bib2json')(joined);
console.log('bib2json:', JSON.stringify(entries[0].Fields), 'errors', errors.length);
JS

expected="$(cat <<'SEEN'
bibtex-parse-js: [{"title":"The {"}]
@orcid/bibtex-parse-js: [{"title":"The {"}]
bib2json: {"note":"in","press":"2026","doi":"10.1000/1"} errors 0
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@orcid/bibtex-parse-js@0.0.25, bib2json@0.0.1, bibtex-parse-js@0.0.24, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
