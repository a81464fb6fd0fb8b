#!/usr/bin/env bash
# Nature Methods becomes Nature methods, and its issue 3 number 3 of a series.
# biblatex-csl-converter gives journals, series and proceedings the capitals of a sentence, as it does with titles, and an article's
# `number` becomes `collection-number`, which no style shows as the issue. "and others" is an author called others.
# Guess: the journal as it stands, `issue` 3, and one author.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . biblatex-csl-converter@3.6.0

cat >try.mjs <<'JS'
import { BibLatexParser, CSLExporter } from 'biblatex-csl-converter';
const { entries } = new BibLatexParser(`@article{one,
  author = {Smith, Ada and others},
  title = {Counting cells},
  journal = {Nature Methods},
  volume = {5},
  number = {3},
  year = {2026}
}`).parse();
const [item] = Object.values(new CSLExporter(entries).parse());
const { author, issue, volume, 'container-title': journal, 'collection-number': number } = item;
for (const [name, value] of Object.entries({ journal, volume, issue, number, author })) console.log(`${name}:`, JSON.stringify(value));
JS

expected="$(cat <<'SEEN'
journal: "Nature methods"
volume: "5"
issue: undefined
number: "3"
author: [{"given":"Ada","family":"Smith"},{"literal":"others"}]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "biblatex-csl-converter@3.6.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
