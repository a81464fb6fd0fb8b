#!/usr/bin/env bash
# In Berlin, a lot of 1 July carries the day of 30 June, and no number has a date.
# The package counts the hours since New Year, one fewer in the summer of Berlin, and rounds. On the way back it reads its own 1/7/2026 as a
# year-month-day, so each number is invalid. Guess: 126182 for 1 July 2026 in each place, and back again.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . julian-to-date@0.0.2

cat >try.mjs <<'JS'
import julian from 'julian-to-date';
for (const date of ['2026-02-01', '2026-07-01']) console.log(process.env.TZ, date, '->', julian.DateToJulian(date));
console.log(process.env.TZ, '126182 ->', julian.JulianToDate('126182'));
JS

expected="$(cat <<'SEEN'
UTC 2026-02-01 -> 126032
UTC 2026-07-01 -> 126182
UTC 126182 -> Invalid JDE Julian Date
Europe/Berlin 2026-02-01 -> 126032
Europe/Berlin 2026-07-01 -> 126181
Europe/Berlin 126182 -> Invalid JDE Julian Date
SEEN
)"
seen="$(for zone in UTC Europe/Berlin; do TZ="$zone" node try.mjs; done)"
printf '%s\n%s\n' "julian-to-date@0.0.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
