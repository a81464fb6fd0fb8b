#!/usr/bin/env bash
# hl7parser 1.0.1 takes no notice of the zone in an HL7 time: 20260131103000-0500 is 10:30 on the reader's own clock (09:30 UTC in Berlin),
# six hours before the right 15:30 UTC, without an error. A birth date of a year and a month is undefined.
# Guess: toDate() gives the instant that the time and its offset state.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . hl7parser@1.0.1

cat >try.mjs <<'JS'
import hl7 from 'hl7parser';
process.env.TZ = 'Europe/Berlin';
for (const time of ['20260131103000', '20260131103000+0100', '20260131103000-0500', '20260131103000+0000', '202601311030+0900', '198012']) {
  const message = hl7.create(`MSH|^~\\&|LAB|A|B|C|${time}||ORU^R01|1|P|2.5`);
  console.log(time, message.get('MSH.7').toDate()?.toISOString());
}
JS

expected="$(cat <<'SEEN'
20260131103000 2026-01-31T09:30:00.000Z
20260131103000+0100 2026-01-31T09:30:00.000Z
20260131103000-0500 2026-01-31T09:30:00.000Z
20260131103000+0000 2026-01-31T09:30:00.000Z
202601311030+0900 2026-01-31T09:30:00.000Z
198012 undefined
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "hl7parser@1.0.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
