#!/usr/bin/env bash
# @zazuko/rdf-parser-csvw 0.17.0 reads no format but a date's: a dose with decimalChar "," becomes "1,5"^^xsd:decimal and a yes|no column
# "yes"^^xsd:boolean, which are no values of those types, and a column with the separator ";" stays one text.
# Guess: 1.5, true, and a triple for each tag, as CSV on the Web has it (the README limits only dates).
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @zazuko/rdf-parser-csvw@0.17.0 @zazuko/env@3.0.1 @rdfjs/parser-jsonld@2.1.3

cat >try.mjs <<'JS'
import { Readable } from 'node:stream';
import JsonLdParser from '@rdfjs/parser-jsonld';
import CsvwParser from '@zazuko/rdf-parser-csvw';
import factory from '@zazuko/env';
const metadata = {
  '@context': { '@vocab': 'http://www.w3.org/ns/csvw#', columns: { '@id': 'http://www.w3.org/ns/csvw#column', '@container': '@list' }, titles: 'http://www.w3.org/ns/csvw#title' },
  tableSchema: {
    aboutUrl: 'http://example.org/{id}',
    columns: [
      { titles: 'id', name: 'id', suppressOutput: 'true' },
      { titles: 'dose', name: 'dose', datatype: { base: 'decimal', format: { decimalChar: ',' } } },
      { titles: 'ill', name: 'ill', datatype: { base: 'boolean', format: 'yes|no' } },
      { titles: 'tags', name: 'tags', separator: ';' },
      { titles: 'born', name: 'born', datatype: { base: 'date', format: 'dd.MM.yyyy' } },
    ],
  },
};
const described = await factory.dataset().import(new JsonLdParser({ factory }).import(Readable.from([JSON.stringify(metadata)])));
const parser = new CsvwParser({ factory, metadata: described, baseIRI: 'http://example.org/' });
const quads = await factory.dataset().import(parser.import(Readable.from(['id,dose,ill,tags,born\n1,"1,5",yes,a;b,31.01.1980\n'])));
for (const { subject, predicate, object } of quads) {
  if (subject.value === 'http://example.org/1') console.log(predicate.value.split('#')[1], JSON.stringify(object.value), object.datatype.value.split('#')[1]);
}
JS

expected="$(cat <<'SEEN'
dose "1,5" decimal
ill "yes" boolean
tags "a;b" string
born "1980-01-31" date
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@zazuko/rdf-parser-csvw@0.17.0, @zazuko/env@3.0.1, @rdfjs/parser-jsonld@2.1.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
