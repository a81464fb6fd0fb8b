#!/usr/bin/env bash
# @cortex-js/compute-engine 0.27.0 reads a value with its uncertainty in brackets, as tables of atomic masses and constants give it, as a
# recurring decimal: 12.011(1) is 12.0111111..., and 1.602(5) is 1.602555... The bracket is no product there, while 3(2) is 6.
# Guess: an error, a product, or 12.011 and an uncertainty.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @cortex-js/compute-engine@0.27.0

cat >try.mjs <<'JS'
import { ComputeEngine } from '@cortex-js/compute-engine';
const engine = new ComputeEngine();
for (const latex of ['12.011(1)', '1.602(5)', '1.602\\left(5\\right)', '3(2)', '1.5\\times10^{-3}']) console.log(latex, engine.parse(latex).N().re);
JS

expected="$(cat <<'SEEN'
12.011(1) 12.011111111111111
1.602(5) 1.6025555555555555
1.602\left(5\right) 1.6025555555555555
3(2) 6
1.5\times10^{-3} 0.0015
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@cortex-js/compute-engine@0.27.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
