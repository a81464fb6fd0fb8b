#!/usr/bin/env bash
# The point closest to 7.11 ppm is the one at 7.2.
# ml-arrayxy-closestx takes the next higher point unless that is more than 0.5 away, whatever the distance to the lower one. Guess: 7.1.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-arrayxy-closestx@2.0.2

cat >try.mjs <<'JS'
import * as module from 'ml-arrayxy-closestx';
const closestX = module.default?.default ?? module.default;
const x = [7, 7.1, 7.2, 7.3, 7.4];
const y = [5, 90, 7, 80, 6];
for (const target of [7.11, 7.19, 7.26, 7.31]) console.log(`closest to ${target}:`, closestX({ x, y }, { target }).x);
const masses = [180, 181, 182];
for (const target of [180.1, 180.4, 180.6]) console.log(`closest to ${target}:`, closestX({ x: masses, y: masses }, { target }).x);
JS

expected="$(cat <<'SEEN'
closest to 7.11: 7.2
closest to 7.19: 7.2
closest to 7.26: 7.3
closest to 7.31: 7.4
closest to 180.1: 180
closest to 180.4: 180
closest to 180.6: 181
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-arrayxy-closestx@2.0.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
