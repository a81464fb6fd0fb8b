#!/usr/bin/env bash
# A search for births since 2000 has a prefix that FHIR does not know.
# The prefixes of FHIR for "at least" and "at most" are ge and le. fhir.js writes gte and lte for $gte and $lte, as its description shows;
# $ge and $le are right. A server may refuse the search. Guess: birthdate=ge2000-01-01.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . fhir.js@0.0.22

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const search = createRequire(import.meta.url)('fhir.js/src/middlewares/search');
for (const operator of ['$ge', '$gte', '$le', '$lte']) {
  const query = { birthdate: { [operator]: '2000-01-01' } };
  console.log(`${JSON.stringify(query)}: ${search.query(query)}`);
}
JS

expected="$(cat <<'SEEN'
{"birthdate":{"$ge":"2000-01-01"}}: birthdate=ge2000-01-01
{"birthdate":{"$gte":"2000-01-01"}}: birthdate=gte2000-01-01
{"birthdate":{"$le":"2000-01-01"}}: birthdate=le2000-01-01
{"birthdate":{"$lte":"2000-01-01"}}: birthdate=lte2000-01-01
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "fhir.js@0.0.22, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
