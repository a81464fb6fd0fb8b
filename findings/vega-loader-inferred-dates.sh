#!/usr/bin/env bash
# IL-2 and IL-6 are days of 2001, and a titre of 1:128 is one of 128.
# Vega infers the type of each column of a CSV file: what JavaScript can read as a date, is one. Samples, genes, ranges and ratios with a
# number from 1 to 12 become milliseconds. One value that is no date keeps the column as text. datalib, its predecessor, does the same.
# Guess: text.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . datalib@1.9.3 vega-loader@5.1.3

cat >try.mjs <<'JS'
process.env.TZ = 'UTC';
const { read } = await import('vega-loader');
const { default: datalib } = await import('datalib');
const shown = (value) => (typeof value === 'number' ? new Date(value).toISOString().slice(0, 10) : value);
const columns = [['IL-2', 'IL-6'], ['IL-2', 'IL-6', 'IL-17'], ['sample 1', 'sample 2'], ['MARCH1', 'SEPT2'], ['1-2', '3-4'], ['1:128', '1:64'], ['A-1', 'B-12']];
for (const column of columns) {
  const csv = `x\n${column.join('\n')}\n`;
  const both = [read(csv, { type: 'csv', parse: 'auto' }), datalib.read(csv, { type: 'csv', parse: 'auto' })];
  console.log(`${column.join(', ')}:`, both.map((rows) => rows.map(({ x }) => shown(x)).join(', ')).join('; '));
}
JS

expected="$(cat <<'SEEN'
IL-2, IL-6: 2001-02-01, 2001-06-01; 2001-02-01, 2001-06-01
IL-2, IL-6, IL-17: IL-2, IL-6, IL-17; IL-2, IL-6, IL-17
sample 1, sample 2: 2001-01-01, 2001-02-01; 2001-01-01, 2001-02-01
MARCH1, SEPT2: 2001-03-01, 2001-09-02; 2001-03-01, 2001-09-02
1-2, 3-4: 2001-01-02, 2001-03-04; 2001-01-02, 2001-03-04
1:128, 1:64: 0128-01-01, 1964-01-01; 0128-01-01, 1964-01-01
A-1, B-12: 2001-01-01, 2001-12-01; 2001-01-01, 2001-12-01
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "datalib@1.9.3, vega-loader@5.1.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
