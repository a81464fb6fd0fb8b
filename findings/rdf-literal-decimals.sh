#!/usr/bin/env bash
# A dose of 0.05 is written as a decimal that no decimal can be, and birthdays have no date.
# toRdf of rdf-literal writes an exponent, which xsd:decimal does not allow, also where that type is asked for. fromRdf reads xsd:gMonthDay
# and xsd:gDay without the hyphens that XML Schema demands of them. Guess: 0.05, and a date.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . rdf-data-factory@2.1.0 rdf-literal@2.0.0

cat >try.mjs <<'JS'
import { DataFactory } from 'rdf-data-factory';
import { fromRdf, toRdf } from 'rdf-literal';
const factory = new DataFactory();
const type = (name) => factory.namedNode(`http://www.w3.org/2001/XMLSchema#${name}`);
for (const value of [0.05, 1.5, 250.25, 3]) {
  const { value: text } = toRdf(value, { dataFactory: factory, datatype: type('decimal') });
  console.log(`${value} as xsd:decimal is written ${text}${/^[+-]?(\d+(\.\d*)?|\.\d+)$/.test(text) ? '' : ', which no decimal is'}`);
}
for (const [text, name] of [['2026-01-31', 'date'], ['--01-31', 'gMonthDay'], ['---31', 'gDay'], ['2026', 'gYear']])
  console.log(`${text} as xsd:${name}: ${fromRdf(factory.literal(text, type(name)))?.getTime?.() >= 0 ? 'a date' : 'no date'}`);
JS

expected="$(cat <<'SEEN'
0.05 as xsd:decimal is written 5.0E-2, which no decimal is
1.5 as xsd:decimal is written 1.5E0, which no decimal is
250.25 as xsd:decimal is written 2.5025E2, which no decimal is
3 as xsd:decimal is written 3
2026-01-31 as xsd:date: a date
--01-31 as xsd:gMonthDay: no date
---31 as xsd:gDay: no date
2026 as xsd:gYear: a date
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "rdf-data-factory@2.1.0, rdf-literal@2.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
