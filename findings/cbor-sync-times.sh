#!/usr/bin/env bash
# cbor-sync 1.0.4 takes a time in seconds (tag 1 of CBOR, as sensors and other libraries write it) as milliseconds: 31 January 2026 is 21
# January 1970. It writes times as text (tag 0), so its own come back right.
# Guess: seconds, whole or with a fraction, as RFC 8949 has it.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . cbor-sync@1.0.4

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const cbor = createRequire(import.meta.url)('cbor-sync');
const seconds = Date.UTC(2026, 0, 31, 10, 30) / 1000;
const whole = Buffer.alloc(6);
whole.set([0xc1, 0x1a]);
whole.writeUInt32BE(seconds, 2);
const fraction = Buffer.alloc(10);
fraction.set([0xc1, 0xfb]);
fraction.writeDoubleBE(seconds + 0.5, 2);
for (const bytes of [whole, fraction, cbor.encode(new Date(seconds * 1000))]) console.log(bytes.toString('hex'), cbor.decode(bytes).toISOString());
JS

expected="$(cat <<'SEEN'
c11a697dd9a8 1970-01-21T11:37:35.400Z
c1fb41da5f766a200000 1970-01-21T11:37:35.400Z
c07818323032362d30312d33315431303a33303a30302e3030305a 2026-01-31T10:30:00.000Z
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "cbor-sync@1.0.4, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
