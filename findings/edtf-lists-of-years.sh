#!/usr/bin/env bash
# Samples of 2026 and 2028 to 2030 end with 2028.
# edtf takes a list's last member for its end. Where that is itself a range, only its first year counts: 2029 and 2030 are not covered, and
# the latest day is too early. A range at the front is right. Guess: 31 December 2030.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . edtf@4.11.1

cat >try.mjs <<'JS'
import edtf from 'edtf';
const day = (time) => new Date(time).toISOString().slice(0, 10);
for (const text of ['{2026,2028..2030}', '{2026..2028,2030}', '[2026-01,2026-03..2026-06]']) {
  const list = edtf(text);
  console.log(`${text}: ${day(list.min)} to ${day(list.max)}`);
}
const list = edtf('{2026,2028..2030}');
console.log('covers', ['2026', '2028', '2029', '2030'].map((year) => `${year} ${list.covers(edtf(year))}`).join(', '));
JS

expected="$(cat <<'SEEN'
{2026,2028..2030}: 2026-01-01 to 2028-12-31
{2026..2028,2030}: 2026-01-01 to 2030-12-31
[2026-01,2026-03..2026-06]: 2026-01-01 to 2026-03-31
covers 2026 true, 2028 true, 2029 false, 2030 false
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "edtf@4.11.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
