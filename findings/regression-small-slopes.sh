#!/usr/bin/env bash
# A standard curve is flat, and its fit explains nothing.
# The package rounds coefficients to two decimals, and computes R² and predictions from the rounded ones: 0.0042 absorbance per ng/ml is 0.
# A decay with a half-life of 24 h has one of 23.1 h. The README speaks of significant figures. Guess: 0.0042 and 1; 24.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . regression@2.0.1

cat >try.mjs <<'JS'
import regression from 'regression';
const standards = [[0, 0.05], [100, 0.47], [200, 0.89]];
for (const options of [undefined, { precision: 8 }]) {
  const { equation, r2 } = regression.linear(standards, options);
  console.log(`slope ${equation[0]}, blank ${equation[1]}, R² ${r2}`);
  const decay = regression.exponential([[0, 1e6], [24, 5e5], [48, 2.5e5]], options);
  console.log(`half-life ${(Math.log(2) / -decay.equation[1]).toFixed(1)} h`);
}
JS

expected="$(cat <<'SEEN'
slope 0, blank 0.47, R² 0
half-life 23.1 h
slope 0.0042, blank 0.05, R² 1
half-life 24.0 h
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "regression@2.0.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
