#!/usr/bin/env bash
# math-expression-evaluator 2.0.7 takes the e of a number for Euler's: 2e-3 is 2.4366 (2 times e, less 3), 1e-5 is -2.28, 6.02e23 is 376.
# 2^3^2 is 64, from left to right. 1E-5 is refused.
# Guess: 0.002, 0.00001, 6.02e23, and 512 as in mathematics.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . math-expression-evaluator@2.0.7

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const Mexp = createRequire(import.meta.url)('math-expression-evaluator');
const mexp = new Mexp();
for (const text of ['2e-3', '1e-5', '6.02e23', '2^3^2', '2*10^2']) console.log(text, mexp.eval(text, [], {}));
JS

expected="$(cat <<'SEEN'
2e-3 2.43656365691809
1e-5 -2.281718171540955
6.02e23 376.37330196843936
2^3^2 64
2*10^2 200
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "math-expression-evaluator@2.0.7, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
