#!/usr/bin/env bash
# A crate whose ids are relative becomes no triples, and no error.
# RO-Crates name their files by relative ids. Without `base`, toRDF leaves out every entity with one, silently: here all of them.
# Guess: an error, or blank nodes.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . jsonld@9.0.0

cat >try.mjs <<'JS'
import jsonld from 'jsonld';
const crate = {
  '@context': { name: 'http://schema.org/name' },
  '@graph': [{ '@id': './', name: 'run 18' }, { '@id': 'counts.csv', name: 'counts' }],
};
const format = 'application/n-quads';
console.log('without base:', JSON.stringify(await jsonld.toRDF(crate, { format })));
console.log((await jsonld.toRDF(crate, { format, base: 'https://example.org/crate/' })).trim());
JS

expected="$(cat <<'SEEN'
without base: ""
<https://example.org/crate/> <http://schema.org/name> "run 18" .
<https://example.org/crate/counts.csv> <http://schema.org/name> "counts" .
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "jsonld@9.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
