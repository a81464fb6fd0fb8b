#!/usr/bin/env bash
# Four genes pass by their adjusted p-values, and none by the adjusted level; a smaller p-value gets a larger one.
# The level of Benjamini and Hochberg is that of the last p-value under their line; multtest stops at the first above it. By Benjamini and
# Yekutieli's method, 0.001 becomes larger than 0.0021 does. A missing p-value takes others with it. Guess: 0.05, on which both agree; 0.008
# for all three; NaN for the missing one alone.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . multtest@0.1.7

cat >try.mjs <<'JS'
import multtest from 'multtest';
const shown = (values) => values.map((value) => Number(value.toPrecision(3))).join(' ');
const genes = [0.013, 0.02, 0.03, 0.04];
console.log('Benjamini-Hochberg of', shown(genes), 'is', shown(multtest.fdr([...genes])));
console.log('level for 0.05:', multtest.adjustSignificanceLevel([...genes], 0.05));
const three = [0.001, 0.002, 0.0021, 0.04, 0.05];
console.log('Benjamini-Yekutieli of', shown(three), 'is', shown(multtest.bY([...three])));
const missing = [0.001, Number.NaN, 0.03, 0.04, 0.05];
console.log('Benjamini-Hochberg of', shown(missing), 'is', shown(multtest.fdr([...missing])));
JS

expected="$(cat <<'SEEN'
Benjamini-Hochberg of 0.013 0.02 0.03 0.04 is 0.04 0.04 0.04 0.04
level for 0.05: 0.0125
Benjamini-Yekutieli of 0.001 0.002 0.0021 0.04 0.05 is 0.0114 0.0114 0.00799 0.114 0.114
Benjamini-Hochberg of 0.001 NaN 0.03 0.04 0.05 is NaN NaN 0.05 0.05 0.05
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "multtest@0.1.7, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
