#!/usr/bin/env bash
# What is not equal to 0 is equal to 0, and what is not an element is one.
# any-ascii writes the sign under a stroke and drops the stroke, which says no: ≠ is =, ≱ is >, and ∉ is what ∈ is.
# Most other signs that have no letters are close to what they say. Guess: != for ≠, and another text for the opposite of each sign.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . any-ascii@0.3.3

cat >try.mjs <<'JS'
import anyAscii from 'any-ascii';
for (const text of ['slope ≠ 0', 'slope = 0', 'n ≱ 5', 'n ≥ 5', 'x ∉ A', 'x ∈ A', 'A ⊄ B', 'A ⊂ B', 'a ≉ b', 'a ≈ b']) console.log(`${text}: ${anyAscii(text)}`);
JS

expected="$(cat <<'SEEN'
slope ≠ 0: slope = 0
slope = 0: slope = 0
n ≱ 5: n > 5
n ≥ 5: n >= 5
x ∉ A: x E A
x ∈ A: x E A
A ⊄ B: A < B
A ⊂ B: A < B
a ≉ b: a ~ b
a ≈ b: a ~ b
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "any-ascii@0.3.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
