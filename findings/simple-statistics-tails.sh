#!/usr/bin/env bash
# No effect has a p-value below 0.001, and 1.96 standard deviations are 1.957.
# The normal distribution comes from a printed table: z is rounded to hundredths, and everything above 3.09 has the last entry. A z of 8 is
# 6.2e-16; the 97.5th percentile is 1.95996, as the table of the normal distribution in any textbook has it. Guess: six digits of both.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . simple-statistics@7.12.1

cat >try.mjs <<'JS'
import { cumulativeStdNormalProbability as below, probit } from 'simple-statistics';
for (const z of [1.641, 1.644, 3.1, 5, 8]) console.log(`p above ${z}:`, Number((1 - below(z)).toFixed(6)), ` below -${z}:`, below(-z));
for (const share of [0.95, 0.975, 0.995]) console.log(`percentile ${share * 100}:`, probit(share).toFixed(4));
JS

expected="$(cat <<'SEEN'
p above 1.641: 0.0505  below -1.641: 0.0505
p above 1.644: 0.0505  below -1.644: 0.0505
p above 3.1: 0.001  below -3.1: 0.001
p above 5: 0.001  below -5: 0.001
p above 8: 0.001  below -8: 0.001
percentile 95: 1.6434
percentile 97.5: 1.9572
percentile 99.5: 2.5692
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "simple-statistics@7.12.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
