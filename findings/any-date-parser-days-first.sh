#!/usr/bin/env bash
# 25/12/2026 is 12 May 2026.
# In American English the parser looks for month/day/year anywhere in the text: 25 is no month, so it leaves out the 2 and reads
# 5/12/2026. Dates by ISO 8601 and with dots are right. Guess: no date, or Christmas.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . any-date-parser@2.2.4

cat >try.mjs <<'JS'
import parser from 'any-date-parser';
for (const text of ['25/12/2026', '31/01/26', '13-02-2026', '25/12/2026 14:30', '25.12.2026', '2026-12-25']) {
  const { year, month, day } = parser.attempt(text, 'en-US');
  console.log(text, '->', [year, month, day].map((part) => String(part).padStart(2, '0')).join('-'));
}
JS

expected="$(cat <<'SEEN'
25/12/2026 -> 2026-05-12
31/01/26 -> 2026-01-01
13-02-2026 -> 2026-03-02
25/12/2026 14:30 -> 2026-05-12
25.12.2026 -> 2026-12-25
2026-12-25 -> 2026-12-25
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "any-date-parser@2.2.4, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
