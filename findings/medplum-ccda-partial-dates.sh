#!/usr/bin/env bash
# Who was born in May 1980 was born on 1 January 1980.
# C-CDA and FHIR both know dates of a year or a month only. @medplum/ccda makes 1 January of both, and midnight in Greenwich of a day without
# a time, which in New York is the evening before; back in C-CDA, both are exact. Guess: 1980, 1980-05, and 2026-01-31 without a time.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @medplum/ccda@5.1.10

cat >try.mjs <<'JS'
process.env.TZ = 'America/New_York';
const { mapCcdaToFhirDate, mapCcdaToFhirDateTime, mapFhirToCcdaDate, mapFhirToCcdaDateTime } = await import('@medplum/ccda');
for (const born of ['1980', '198005', '19800531']) {
  const date = mapCcdaToFhirDate(born);
  console.log(`born ${born}: ${date} in FHIR, ${mapFhirToCcdaDate(date)} back in C-CDA`);
}
for (const taken of ['20260131', '202605', '20260131103045+0100']) {
  const time = mapCcdaToFhirDateTime(taken);
  const seen = new Date(time).toLocaleString('en-GB', { timeZone: 'America/New_York' });
  console.log(`taken ${taken}: ${time} in FHIR, ${seen} in New York, ${mapFhirToCcdaDateTime(time)} back in C-CDA`);
}
JS

expected="$(cat <<'SEEN'
born 1980: 1980-01-01 in FHIR, 19800101 back in C-CDA
born 198005: 1980-01-01 in FHIR, 19800101 back in C-CDA
born 19800531: 1980-05-31 in FHIR, 19800531 back in C-CDA
taken 20260131: 2026-01-31T00:00:00Z in FHIR, 30/01/2026, 19:00:00 in New York, 20260131000000+0000 back in C-CDA
taken 202605: 2026-01-01T00:00:00Z in FHIR, 31/12/2025, 19:00:00 in New York, 20260101000000+0000 back in C-CDA
taken 20260131103045+0100: 2026-01-31T10:30:45+01:00 in FHIR, 31/01/2026, 04:30:45 in New York, 20260131103045+0100 back in C-CDA
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@medplum/ccda@5.1.10, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
