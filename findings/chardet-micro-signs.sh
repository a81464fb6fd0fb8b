#!/usr/bin/env bash
# A table with µ and °C is Japanese, and a note in UTF-8 has "Âµl" for "µl".
# chardet takes short texts with few signs beyond ASCII for others: one in Latin-1, as instruments write it, is Shift_JIS, in which µ is ｵ
# and ± is ｱ, and one in UTF-8 is ISO-8859-1. Guess: ISO-8859-1 for the first, UTF-8 for the second, which is valid.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . chardet@2.2.0 iconv-lite@0.7.3

cat >try.mjs <<'JS'
import chardet from 'chardet';
import iconv from 'iconv-lite';
const texts = [['latin1', '5 µg ± 2, 37 °C'], ['latin1', `gene,µM\n${'TP53,1.0\n'.repeat(20)}`], ['utf8', '10 µl at 4°C for 5 min, then 20 µl'], ['utf8', '5 µg ± 2, 37 °C']];
for (const [encoding, text] of texts) {
  const bytes = Buffer.from(text, encoding);
  const found = chardet.detect(bytes);
  console.log(encoding, text.split('\n', 1)[0], '=>', found, iconv.decode(bytes, found).split('\n', 1)[0]);
}
JS

expected="$(cat <<'SEEN'
latin1 5 µg ± 2, 37 °C => Shift_JIS 5 ｵg ｱ 2, 37 ｰC
latin1 gene,µM => ISO-8859-1 gene,µM
utf8 10 µl at 4°C for 5 min, then 20 µl => ISO-8859-1 10 Âµl at 4Â°C for 5 min, then 20 Âµl
utf8 5 µg ± 2, 37 °C => UTF-8 5 µg ± 2, 37 °C
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "chardet@2.2.0, iconv-lite@0.7.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
