#!/usr/bin/env bash
# A week before surgery is a week after it.
# The sign of a duration is accepted and lost. CDISC's SDTM has signed ones for a period before a point in time (evaluation intervals, as
# "-P2M" in --EVLINT), and so has ISO 8601-2. Guess: -604800 seconds and 24 January, or an error.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . iso8601-duration@2.1.4

cat >try.mjs <<'JS'
import { end, parse, toSeconds } from 'iso8601-duration';
const surgery = new Date('2026-01-31T00:00:00Z');
for (const text of ['P7D', '-P7D', '-PT12H']) {
  const duration = parse(text);
  console.log(`${text}: ${toSeconds(duration, surgery)} s, ends ${end(duration, surgery).toISOString()}`);
}
JS

expected="$(cat <<'SEEN'
P7D: 604800 s, ends 2026-02-07T00:00:00.000Z
-P7D: 604800 s, ends 2026-02-07T00:00:00.000Z
-PT12H: 43200 s, ends 2026-01-31T12:00:00.000Z
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "iso8601-duration@2.1.4, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
