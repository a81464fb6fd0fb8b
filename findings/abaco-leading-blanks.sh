#!/usr/bin/env bash
# A concentration of 12.5 in a column that is padded with a blank is −1587.5.
# abaco reads numbers from bytes. Its strict parser refuses a <, but takes a blank for a digit of −16.
# JavaScript's parseFloat skips blanks. Guess: 12.5, or NaN.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . abaco@1.11.2

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const abaco = createRequire(import.meta.url)('abaco');
for (const text of ['12.5', ' 12.5', '  7.4', '7.4 ', '<0.5']) {
  console.log(`${JSON.stringify(text)}: ${abaco.xparseFloat(Buffer.from(text))}, JavaScript ${Number.parseFloat(text)}`);
}
JS

expected="$(cat <<'SEEN'
"12.5": 12.5, JavaScript 12.5
" 12.5": -1587.5, JavaScript 12.5
"  7.4": -1752.6, JavaScript 7.4
"7.4 ": 7.24, JavaScript 7.4
"<0.5": NaN, JavaScript NaN
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "abaco@1.11.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
