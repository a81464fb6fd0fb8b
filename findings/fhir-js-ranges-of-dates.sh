#!/usr/bin/env bash
# A search for births since 2000 has a prefix that FHIR does not know.
# The prefixes of FHIR for "at least" and "at most" are ge and le. fhir.js writes gte and lte, so that a server refuses the search, or leaves
# out the limit. Guess: birthDate=ge2000-01-01.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . fhir.js@0.0.22

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const search = createRequire(import.meta.url)('fhir.js/src/middlewares/search');
for (const query of [{ birthDate: { $gt: '2000-01-01' } }, { birthDate: { $gte: '2000-01-01' } }, { date: { $lte: '2026-01-31' } }])
  console.log(`${JSON.stringify(query)}: ${search.query(query)}`);
JS

expected="$(cat <<'SEEN'
{"birthDate":{"$gt":"2000-01-01"}}: birthDate=gt2000-01-01
{"birthDate":{"$gte":"2000-01-01"}}: birthDate=gte2000-01-01
{"date":{"$lte":"2026-01-31"}}: date=lte2026-01-31
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "fhir.js@0.0.22, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
