#!/usr/bin/env bash
# While an answer grows, the star of significance of one p-value also stands at another.
# remend closes what looks open in unfinished Markdown. A star behind a number is taken for the beginning of italics, and gets a second
# one at the end; what follows a half-open interval becomes a link without its bracket. Guess: only what Markdown reads as open is closed.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . remend@1.4.0

cat >try.mjs <<'JS'
import remend from 'remend';
const answers = ['A: p = 0.2, B: p = 0.03*, C: p = 0.5', 'A: p = 0.2, B: p = 0.01**, C: p = 0.5', '2**3 = 8, so 8', 'doses in [0, 1) mg, then more'];
for (const answer of answers) console.log(answer, '=>', remend(answer));
JS

expected="$(cat <<'SEEN'
A: p = 0.2, B: p = 0.03*, C: p = 0.5 => A: p = 0.2, B: p = 0.03*, C: p = 0.5*
A: p = 0.2, B: p = 0.01**, C: p = 0.5 => A: p = 0.2, B: p = 0.01**, C: p = 0.5**
2**3 = 8, so 8 => 2**3 = 8, so 8**
doses in [0, 1) mg, then more => doses in [0, 1) mg, then more](streamdown:incomplete-link)
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "remend@1.4.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
