#!/usr/bin/env bash
# Without expected frequencies, a fair die has an infinite chi-square and no p-value.
# chi-sq-test lets them be left out, and then expects zeros. Shares such as 0.5 and 0.25 are taken for counts, without a message, so that a
# perfect ratio of 2 to 1 to 1 is refuted. Guess: equal frequencies, as in R, and shares of the whole.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . chi-sq-test@2.1.1

cat >try.mjs <<'JS'
import { gof } from 'chi-sq-test';
function show(name, observed, expected) {
  const { value, pValue } = gof(observed, expected);
  console.log(`${name}: chi-square ${value}, p ${pValue}`);
}
show('ten of each, ten expected', [10, 10, 10, 10, 10, 10], [10, 10, 10, 10, 10, 10]);
show('ten of each', [10, 10, 10, 10, 10, 10]);
show('genotypes 50, 100, 50, counts expected', [50, 100, 50], [50, 100, 50]);
show('genotypes 50, 100, 50, shares expected', [50, 100, 50], [0.25, 0.5, 0.25]);
JS

expected="$(cat <<'SEEN'
ten of each, ten expected: chi-square 0, p 1
ten of each: chi-square Infinity, p NaN
genotypes 50, 100, 50, counts expected: chi-square 0, p 1
genotypes 50, 100, 50, shares expected: chi-square 39601, p 0
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "chi-sq-test@2.1.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
