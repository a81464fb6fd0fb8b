#!/usr/bin/env bash
# A read at 10:29:59.7 was at 10:29:00.
# SheetJS formats the times of a workbook with SSF. When the seconds round up to 60, it drops them and leaves the minutes as they are, so
# that one time in 120 is a minute too early; without seconds, a time just before midnight is 24:00. Guess: 10:30:00, 0.3 s away, from both.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ssf@0.11.2 xlsx@0.18.5

cat >try.mjs <<'JS'
import ssf from 'ssf';
import xlsx from 'xlsx';
const at = (hours, minutes, seconds) => 46053 + (hours * 3600 + minutes * 60 + seconds) / 86400;
for (const seconds of [59.4, 59.7]) console.log(seconds, 's:', ssf.format('yyyy-mm-dd hh:mm:ss', at(10, 29, seconds)));
const sheet = { '!ref': 'A1:A2' };
sheet.A1 = { t: 'n', v: at(10, 29, 59.7), z: 'yyyy-mm-dd hh:mm:ss' };
sheet.A2 = { t: 'n', v: at(23, 59, 59.7), z: 'yyyy-mm-dd hh:mm' };
console.log(xlsx.utils.sheet_to_csv(sheet));
JS

expected="$(cat <<'SEEN'
59.4 s: 2026-01-31 10:29:59
59.7 s: 2026-01-31 10:29:00
2026-01-31 10:29:00
2026-01-31 24:00
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ssf@0.11.2, xlsx@0.18.5, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
