#!/usr/bin/env bash
# Read on 31 January, a spectrum of 5 February is one of 5 March.
# spc-parser sets year, month and day one after the other in a date that begins as today: where the month is too short for today, it is the
# next month. Guess: the same date on each day.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . spc-parser@1.0.0

cat >try.mjs <<'JS'
import { mock } from 'node:test';
import { parse } from 'spc-parser';
// A spectrum of 5 February 1994, 10:30, in the new format.
const file = Buffer.alloc(512 + 32 + 4 * 4);
file.writeUInt8(0x4b, 1);
file.writeUInt8(0x80, 3);
file.writeUInt32LE(4, 4);
file.writeDoubleLE(400, 8);
file.writeDoubleLE(403, 16);
file.writeUInt32LE(1, 24);
file.writeUInt32LE((1994 << 20) | (2 << 16) | (5 << 11) | (10 << 6) | 30, 32);
for (const day of ['2026-01-15', '2026-01-29', '2026-01-31', '2026-03-30']) {
  mock.timers.enable({ apis: ['Date'], now: new Date(`${day}T08:00:00Z`) });
  console.log(`read on ${day}: measured ${parse(file).meta.date}`);
  mock.timers.reset();
}
JS

expected="$(cat <<'SEEN'
read on 2026-01-15: measured 1994-02-05T10:30:00.000Z
read on 2026-01-29: measured 1994-03-05T10:30:00.000Z
read on 2026-01-31: measured 1994-03-05T10:30:00.000Z
read on 2026-03-30: measured 1994-03-05T10:30:00.000Z
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "spc-parser@1.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
