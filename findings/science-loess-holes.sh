#!/usr/bin/env bash
# science 1.9.3's loess, made to withstand outliers, answers NaN for eight of twenty values when one of them is far off: all of its
# neighbours have large residuals after the first pass too, all their weights become 0, and 0 is divided by 0. Without its robust passes it
# has twenty numbers.
# Guess: a smooth curve through the others, about 7000 to 14000 in the gap.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . science@1.9.3

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const science = createRequire(import.meta.url)('science');
const x = Array.from({ length: 20 }, (_, index) => index);
const y = x.map((value) => 1000 * value + (value % 3) * 7 + (value === 10 ? 50000 : 0));
console.log(science.stats.loess().bandwidth(0.4)(x, y).map(Math.round).join(' '));
console.log(science.stats.loess().bandwidth(0.4).robustnessIterations(0)(x, y).map(Math.round).join(' '));
JS

expected="$(cat <<'SEEN'
4 1005 2006 3007 4007 5006 6006 NaN NaN NaN NaN NaN NaN NaN NaN 15008 16007 17006 18006 19006
4 1005 2006 3007 4007 5007 6007 9092 15235 19299 20797 21299 19236 15092 14007 15007 16007 17006 18006 19006
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "science@1.9.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
