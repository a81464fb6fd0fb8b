#!/usr/bin/env bash
# Half an hour ago was two hours ago, and the gene OCT4 is 4 October.
# chrono-node starts to read after a sign that it does not know: of "1/2 h", "2 1/2 h" and "1,5 h" it takes the last number. Genes that are
# called like months are days, a ratio is a month and a day, and "may" is a month. Guess: 30 minutes, 2.5 hours, 1.5 hours, and no date in a
# gene.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . chrono-node@2.10.3

cat >try.mjs <<'JS'
process.env.TZ = 'UTC';
const { parse } = await import('chrono-node');
const now = new Date('2026-06-15T12:00:00Z');
for (const text of ['half an hour ago', '1/2 h ago', '2 1/2 h ago', '2.5 h ago', '1,5 h ago', 'OCT4 is on', 'MARCH1 and DEC1', 'in 3/4 of cells', 'it may 5 times exceed']) {
  const dates = parse(text, now).map((found) => `"${found.text}" ${found.start.date().toISOString().slice(0, 16)}`);
  console.log(`${text}:`, dates.join(', '));
}
JS

expected="$(cat <<'SEEN'
half an hour ago: "half an hour ago" 2026-06-15T11:30
1/2 h ago: "2 h ago" 2026-06-15T10:00
2 1/2 h ago: "2 h ago" 2026-06-15T10:00
2.5 h ago: "2.5 h ago" 2026-06-15T09:30
1,5 h ago: "5 h ago" 2026-06-15T07:00
OCT4 is on: "OCT4" 2026-10-04T12:00
MARCH1 and DEC1: "MARCH1" 2026-03-01T12:00, "DEC1" 2026-12-01T12:00
in 3/4 of cells: "3/4" 2026-03-04T12:00
it may 5 times exceed: "may 5" 2026-05-05T12:00
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "chrono-node@2.10.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
