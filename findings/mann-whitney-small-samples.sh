#!/usr/bin/env bash
# @tainakanchu/mann-whitney-utest 1.1.0 calls three values against three significant, which by their 20 orders they cannot be (the least
# two-sided p-value is 2 in 20): it takes the normal distribution without a correction, 1.964 above 1.96, for any number of values.
# Guess: the tables of U for few values, where 3 and 3 have no critical value at 5 %.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @tainakanchu/mann-whitney-utest@1.1.0

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const { criticalValue, significant, test } = createRequire(import.meta.url)('@tainakanchu/mann-whitney-utest');
// The share of all orders with a U that is as small, twice.
function exact(first, second) {
  const all = [...first, ...second];
  const smaller = (a, b) => Math.min(...[[a, b], [b, a]].map(([x, y]) => x.reduce((sum, v) => sum + y.filter((w) => v > w).length, 0)));
  const found = smaller(first, second);
  let hits = 0;
  let orders = 0;
  for (let bits = 0; bits < 2 ** all.length; bits++) {
    const a = all.filter((_, index) => (bits >> index) & 1);
    if (a.length !== first.length) continue;
    orders++;
    if (smaller(a, all.filter((_, index) => !((bits >> index) & 1))) <= found) hits++;
  }
  return hits / orders;
}
for (const samples of [[[9, 10, 11], [6, 7, 8]], [[9, 10, 11, 12], [5, 6, 7, 8]]]) {
  const u = test(samples);
  console.log(JSON.stringify(samples), 'U', u.join(' '), 'z', criticalValue(u, samples).toFixed(3), 'significant', significant(u, samples), 'exact p', exact(...samples).toFixed(3));
}
JS

expected="$(cat <<'SEEN'
[[9,10,11],[6,7,8]] U 9 0 z 1.964 significant true exact p 0.100
[[9,10,11,12],[5,6,7,8]] U 16 0 z 2.309 significant true exact p 0.029
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@tainakanchu/mann-whitney-utest@1.1.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
