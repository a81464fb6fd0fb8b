#!/usr/bin/env bash
# @vanillaes/csv 3.0.8 with typed: true reads the p-value 1e-5 as 1, and the cell 2310009E13 of an id as 2310009: what has no point goes
# through parseInt, which stops at the e. With a point (6.02e23) it is right, so one column holds both.
# Guess: 0.00001, as Number gives.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @vanillaes/csv@3.0.8

cat >try.mjs <<'JS'
import { parse } from '@vanillaes/csv';
for (const row of parse('gene,p\nIL6,1e-5\nTNF,1.0e-5\nIFNG,3E-2\n2310009E13,6.02e23\n', { typed: true })) console.log(...row);
JS

expected="$(cat <<'SEEN'
gene p
IL6 1
TNF 0.00001
IFNG 3
2310009 6.02e+23
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@vanillaes/csv@3.0.8, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
