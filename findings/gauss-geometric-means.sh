#!/usr/bin/env bash
# The geometric mean titre of 80 sera is infinite, that of 60 concentrations of 1 µM is 0.
# gauss multiplies all values before it takes the root, beyond what a number can hold. It drops the sign of the product too, so a value
# below zero counts as one above. Guess: 10240 and 0.000001, whatever the number of values, and no result for -4 and 1.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . gauss@0.2.12

cat >try.mjs <<'JS'
import gauss from 'gauss';
const show = (name, values) => console.log(name, new gauss.Vector(values).gmean());
show('70 titres of 10240:', Array(70).fill(10240));
show('80 titres of 10240:', Array(80).fill(10240));
show('60 concentrations of 1e-6:', Array(60).fill(1e-6));
show('-4 and 1:', [-4, 1]);
JS

expected="$(cat <<'SEEN'
70 titres of 10240: 10239.999999999996
80 titres of 10240: Infinity
60 concentrations of 1e-6: 0
-4 and 1: 2
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "gauss@0.2.12, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
