#!/usr/bin/env bash
# A round trip drops nulls and repeated values of a crate.
# Reading and writing a crate changes it: a property that is null is gone, a list with equal values loses all but one (two measurements
# of 5 become one), and the context becomes a list. Guess: the same crate.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ro-crate@3.7.2

cat >try.mjs <<'JS'
import { ROCrate } from 'ro-crate';
const crate = new ROCrate(
  {
    '@context': 'https://w3id.org/ro/crate/1.1/context',
    '@graph': [
      {
        '@id': 'ro-crate-metadata.json',
        '@type': 'CreativeWork',
        about: { '@id': './' },
        conformsTo: { '@id': 'https://w3id.org/ro/crate/1.1' },
      },
      { '@id': './', '@type': 'Dataset', name: 'run 18', value: [5, 5, 6], license: null },
    ],
  },
  { array: false },
);
const { '@context': context, '@graph': graph } = crate.toJSON();
console.log(JSON.stringify(context));
console.log(JSON.stringify(graph.find((entity) => entity['@id'] === './')));
JS

expected="$(cat <<'SEEN'
["https://w3id.org/ro/crate/1.1/context"]
{"@id":"./","@type":"Dataset","name":"run 18","value":[5,6]}
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ro-crate@3.7.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
