#!/usr/bin/env bash
# A paired t-test, a one-sided one and Welch's are all the same test.
# T.TEST takes no notice of its tails and type and is always the two-sided one of equal variances; F.TEST returns the ratio of the variances
# instead of a p-value. Microsoft's pages on the functions give 0.196016 for the paired test of these data and 0.648318 for F.TEST. Guess: those.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @formulajs/formulajs@4.6.1

cat >try.mjs <<'JS'
import { F, T } from '@formulajs/formulajs';
const first = [3, 4, 5, 8, 9, 1, 2, 4, 5];
const second = [6, 19, 3, 2, 14, 4, 5, 17, 1];
for (const [type, name] of ['paired', 'equal variances', 'unequal variances'].map((name, at) => [at + 1, name]))
  console.log(`${name}: one tail ${T.TEST(first, second, 1, type).toFixed(6)}, two tails ${T.TEST(first, second, 2, type).toFixed(6)}`);
console.log('F.TEST:', F.TEST([6, 7, 9, 15, 21], [20, 28, 31, 38, 40]).toFixed(6));
JS

expected="$(cat <<'SEEN'
paired: one tail 0.191996, two tails 0.191996
equal variances: one tail 0.191996, two tails 0.191996
unequal variances: one tail 0.191996, two tails 0.191996
F.TEST: 0.614198
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@formulajs/formulajs@4.6.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
