#!/usr/bin/env bash
# duration-fns 3.0.2's between subtracts years, months and days one by one: from 31 December 1980 to 1 January 2026 are P46Y-11M-30D, so an
# age from .years is one too many for as long as the birthday is to come (46, and 1 for four weeks over a new year). ISO 8601 has no such
# signs, and half a second is PT0,5S.
# Guess: P45Y1D, as Temporal and date-fns's intervalToDuration have it.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . duration-fns@3.0.2

cat >try.mjs <<'JS'
import { between, toString } from 'duration-fns';
process.env.TZ = 'UTC';
for (const [from, to] of [['1980-12-31', '2026-01-01'], ['2024-02-29', '2025-02-28'], ['2025-12-15', '2026-01-14'], ['2026-01-31', '2026-03-01'], ['1980-01-31', '2026-01-31']]) {
  const duration = between(from, to);
  console.log(from, to, toString(duration), 'years', duration.years);
}
console.log(toString({ milliseconds: 500 }));
JS

expected="$(cat <<'SEEN'
1980-12-31 2026-01-01 P46Y-11M-30D years 46
2024-02-29 2025-02-28 P1Y-1D years 1
2025-12-15 2026-01-14 P1Y-11M-1D years 1
2026-01-31 2026-03-01 P2M-30D years 0
1980-01-31 2026-01-31 P46Y years 46
PT0,5S
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "duration-fns@3.0.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
