#!/usr/bin/env bash
# Where a sample has no reading, that of the blank takes its place.
# xy-parser takes several separators in a row for one, so that the columns after an empty cell move to the left. Rows with NaN are left out.
# Guess: NaN, or no such row.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . xy-parser@6.0.1

cat >try.mjs <<'JS'
import { parseXY } from 'xy-parser';
for (const separator of [';', ',', '\t']) {
  const rows = [['400', '0.81', '0.05'], ['401', '', '0.06'], ['402', '0.85', '0.05']];
  const { x, y } = parseXY(rows.map((row) => row.join(separator)).join('\n'));
  console.log(`${JSON.stringify(separator)}: x ${x.join(' ')}, y ${y.join(' ')}`);
}
const { x, y } = parseXY('400;NaN;0.05\n401;0.82;0.06');
console.log(`a row with NaN: x ${x.join(' ')}, y ${y.join(' ')}`);
JS

expected="$(cat <<'SEEN'
";": x 400 401 402, y 0.81 0.06 0.85
",": x 400 401 402, y 0.81 0.06 0.85
"\t": x 400 401 402, y 0.81 0.06 0.85
a row with NaN: x 401, y 0.82
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "xy-parser@6.0.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
