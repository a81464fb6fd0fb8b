#!/usr/bin/env bash
# @bonfhir/core 2.22.1 shows a FHIR date as the day before everywhere east of Greenwich: 2026-01-31 is 30/01/2026 in Berlin, 2026-01-31 at
# 10:30 UTC as well. The parts of the date become midnight of the reader's zone, and that is then written in UTC.
# Guess: formatter.format('date', '2026-01-31') is the 31st in all zones.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @bonfhir/core@2.22.1

cat >try.mjs <<'JS'
import { Formatter } from '@bonfhir/core/r4b';
for (const zone of ['UTC', 'Europe/Berlin', 'Asia/Tokyo', 'America/New_York']) {
  process.env.TZ = zone;
  const formatter = Formatter.build({ locale: 'en-GB' });
  console.log(zone, formatter.format('date', '2026-01-31'), formatter.format('date', '2026-01-31T10:30:00Z'), formatter.format('date', '2026-01-31T22:30:00-05:00'));
}
JS

expected="$(cat <<'SEEN'
UTC 31/01/2026 31/01/2026 31/01/2026
Europe/Berlin 30/01/2026 30/01/2026 30/01/2026
Asia/Tokyo 30/01/2026 30/01/2026 30/01/2026
America/New_York 31/01/2026 31/01/2026 31/01/2026
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@bonfhir/core@2.22.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
