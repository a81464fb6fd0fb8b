#!/usr/bin/env bash
# Of eight counts, 8 is an outlier, though it lies within the limits of the rule.
# outliers takes what is more than 1.5 interquartile ranges from the median. The usual rule, which it refers to, counts them from the first
# and the third quartile. Guess: that rule.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . outliers@0.0.3

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const outliers = createRequire(import.meta.url)('outliers');
const median = (values) => (values[Math.floor((values.length - 1) / 2)] + values[Math.ceil((values.length - 1) / 2)]) / 2;
for (const values of [[1, 2, 2, 3, 3, 4, 5, 6], [1, 1, 1, 1, 2, 3, 5, 8], [10, 11, 12, 13, 14, 15, 16, 17, 23]]) {
  const [first, third] = [values.slice(0, Math.floor(values.length / 2)), values.slice(Math.ceil(values.length / 2))].map(median);
  const limits = [first - 1.5 * (third - first), third + 1.5 * (third - first)];
  console.log(`${values.join(' ')}: outliers [${outliers(values).join(' ')}], limits ${limits.join(' and ')}`);
}
JS

expected="$(cat <<'SEEN'
1 2 2 3 3 4 5 6: outliers [], limits -1.75 and 8.25
1 1 1 1 2 3 5 8: outliers [8], limits -3.5 and 8.5
10 11 12 13 14 15 16 17 23: outliers [23], limits 4 and 24
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "outliers@0.0.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
