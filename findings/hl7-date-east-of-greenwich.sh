#!/usr/bin/env bash
# A laboratory east of Greenwich writes times that HL7 cannot have.
# HL7 has offsets like +0100. East of Greenwich, hl7-date writes a plus and a minus and leaves zeros out; where an offset has half an hour,
# it also writes an hour too many. Guess: a sign and four digits everywhere, as in New York.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . hl7-date@1.0.1

cat >try.mjs <<'JS'
import { execFileSync } from 'node:child_process';
const code = `const { default: date } = await import('hl7-date');
console.log(date.stringify(new Date(Date.UTC(2026, 0, 31, 9, 30, 5))));`;
for (const TZ of ['America/New_York', 'UTC', 'Europe/Berlin', 'Asia/Tokyo', 'Asia/Kolkata', 'Australia/Adelaide'])
  console.log(TZ, execFileSync(process.execPath, ['--input-type=module', '-e', code], { env: { ...process.env, TZ } }).toString().trim());
JS

expected="$(cat <<'SEEN'
America/New_York 20260131043005-0500
UTC 20260131093005+0000
Europe/Berlin 20260131103005+-100
Asia/Tokyo 20260131183005+-900
Asia/Kolkata 20260131150005+-6-30
Australia/Adelaide 20260131200005+-11-30
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "hl7-date@1.0.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
