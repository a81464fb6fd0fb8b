#!/usr/bin/env bash
# quick-pivot 2.7.0 counts a value that is missing as 0 in a mean and a minimum: doses of 1, nothing and 3 have a mean of 1.33 and a lowest
# of 0, and three of them are counted.
# Guess: 2, 1 and two values, as a spreadsheet's pivot table has it.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . quick-pivot@2.7.0

cat >try.mjs <<'JS'
import Pivot from 'quick-pivot';
const rows = [['arm', 'dose'], ['A', 1], ['A', ''], ['A', 3], ['B', 2], ['B', 4]];
for (const kind of ['average', 'min', 'count']) {
  const pivot = new Pivot(rows, ['arm'], [], 'dose', kind, '');
  console.log(kind, pivot.data.table.slice(1, 3).map(({ value }) => value.slice(0, 2).join(' ')).join(', '));
}
JS

expected="$(cat <<'SEEN'
average A 1.3333333333333333, B 3
min A 0, B 2
count A 3, B 2
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "quick-pivot@2.7.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
