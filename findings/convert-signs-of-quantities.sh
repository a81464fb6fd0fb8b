#!/usr/bin/env bash
# A freezer at −80 °C is at +80 °C, and 5 g ± 1 g are 6 g.
# convertMany reads a text with several quantities. It adds them up, and skips what stands between: the minus of typography, "±", "-" before
# a blank, "<" and "~". A hyphen right before the number is a minus. Guess: an error, as for "5-10 g".
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . convert@8.0.2

cat >try.mjs <<'JS'
import { convertMany } from 'convert';
function read(text, unit) {
  try {
    return `${convertMany(text).to(unit)} ${unit}`;
  } catch {
    return 'an error';
  }
}
const texts = [['-80 C', 'C'], ['−80 C', 'C'], ['- 80 C', 'C'], ['5 g ± 1 g', 'g'], ['1 kg - 200 g', 'g'], ['<5 mg', 'mg'], ['5-10 g', 'g']];
for (const [text, unit] of texts) console.log(`${text}:`, read(text, unit));
JS

expected="$(cat <<'SEEN'
-80 C: -80 C
−80 C: 80 C
- 80 C: 80 C
5 g ± 1 g: 6 g
1 kg - 200 g: 1200 g
<5 mg: 5 mg
5-10 g: an error
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "convert@8.0.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
