#!/usr/bin/env bash
# 5% of 200 mice are 0.025, and a p-value of 1e-5 is 1 and 5.
# compromise reads "of" between two numbers as a fraction, also after a percentage. A fraction with a slash is its first number, a decimal
# comma is left out, and −80 is 80, with either minus. Guess: 5% and 200, or 10; a hundred-thousandth; a third; and −80.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . compromise@14.17.0

cat >try.mjs <<'JS'
import nlp from 'compromise';
const texts = ['5% of 200 mice died', 'p was 1e-5', '1/3 of patients', 'at 1,5 mM', 'kept at −80 °C', 'kept at -80 °C', '3 out of 10 patients'];
for (const text of texts) console.log(`${text}:`, nlp(text).numbers().json().map(({ number }) => number.num).join(' and '));
JS

expected="$(cat <<'SEEN'
5% of 200 mice died: 0.025
p was 1e-5: 1 and 5
1/3 of patients: 1
at 1,5 mM: 15
kept at −80 °C: 80
kept at -80 °C: 80
3 out of 10 patients: 0.3
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "compromise@14.17.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
