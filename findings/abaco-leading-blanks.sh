#!/usr/bin/env bash
# A concentration of 12.5 in a column that is padded with a blank is −1587.5.
# abaco reads numbers from bytes, and takes each byte for a digit, without a check: a blank is one of −16, a plus one of −5, a < one of 12.
# JavaScript's parseFloat skips blanks. Guess: 12.5 and 5; NaN for <0.5.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . abaco@1.11.2

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const abaco = createRequire(import.meta.url)('abaco');
for (const text of ['12.5', ' 12.5', '  7.4', '7.4 ', '+5', '<0.5']) {
  console.log(`${JSON.stringify(text)}: ${abaco.parseFloat(Buffer.from(text))}, JavaScript ${Number.parseFloat(text)}`);
}
JS

expected="$(cat <<'SEEN'
"12.5": 12.5, JavaScript 12.5
" 12.5": -1587.5, JavaScript 12.5
"  7.4": -1752.6, JavaScript 7.4
"7.4 ": 7.24, JavaScript 7.4
"+5": -45, JavaScript 5
"<0.5": 120.5, JavaScript NaN
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "abaco@1.11.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
