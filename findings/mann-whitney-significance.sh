#!/usr/bin/env bash
# Two mice against two are a significant difference, twelve against twelve at p = 0.003 are not.
# The package says that U is significant below a critical value. What it works out as that value is the z score of U itself, so that groups
# which overlap a little differ never, and groups of any size that do not overlap differ always. Guess: p below 0.05.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . mann-whitney-utest@1.0.5

cat >try.mjs <<'JS'
import test from 'mann-whitney-utest';
const from = (first, count) => Array.from({ length: count }, (_, index) => first + index);
const pairs = { '2 and 2, apart, p 0.33': [from(1, 2), from(11, 2)], '3 and 3, apart, p 0.10': [from(1, 3), from(11, 3)] };
pairs['12 and 12, overlapping, p 0.003'] = [from(1, 12), from(6.5, 12)];
pairs['50 and 50, overlapping, p below 1e-9'] = [from(1, 50), from(35.5, 50)];
for (const [name, groups] of Object.entries(pairs)) {
  const u = test.test(groups);
  console.log(`${name}: U ${Math.min(...u)}, "critical" ${test.criticalValue(u, groups).toFixed(2)}, ${test.significant(u, groups)}`);
}
JS

expected="$(cat <<'SEEN'
2 and 2, apart, p 0.33: U 0, "critical" 1.55, true
3 and 3, apart, p 0.10: U 0, "critical" 1.96, true
12 and 12, overlapping, p 0.003: U 21, "critical" 2.94, false
50 and 50, overlapping, p below 1e-9: U 120, "critical" 7.79, false
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "mann-whitney-utest@1.0.5, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
