#!/usr/bin/env bash
# What runs on the 31st runs on 1 May, and a job of 29 February on 1 March.
# The parser asks whether 31 is a wanted day, never whether the month has it, and then lets Date count on. A day of the month and a weekday
# must both fit, where cron runs on either. Guess: 31 May 2026, 29 February 2028, and 6 April, the next Monday (the start is a Sunday).
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @cheap-glitch/mi-cron@1.0.1

cat >try.mjs <<'JS'
import { parseCron } from '@cheap-glitch/mi-cron';
for (const times of ['0 8 31 * *', '0 8 29 2 *', '0 8 1 * 1']) {
  console.log(times, '->', parseCron.nextDate(times, new Date('2026-04-05T09:00:00Z')).toISOString());
}
JS

expected="$(cat <<'SEEN'
0 8 31 * * -> 2026-05-01T08:00:00.000Z
0 8 29 2 * -> 2027-03-01T08:00:00.000Z
0 8 1 * 1 -> 2026-06-01T08:00:00.000Z
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@cheap-glitch/mi-cron@1.0.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
