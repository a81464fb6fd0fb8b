#!/usr/bin/env bash
# Yamada Tarou has the given name Tarou=山田, and a middle name.
# In DICOM, = parts the Latin, the ideographic and the phonetic form of a name, and ^ the parts of each. parsePN of dicom-parser cuts the whole
# at ^ only. A name that has one form is right. Guess: the parts of the first form.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . dicom-parser@1.8.21

cat >try.mjs <<'JS'
import parser from 'dicom-parser';
// The second one is the example of the standard, PS3.5 H.3.1, in the text that a reader has made of it.
for (const name of ['Adams^John^Robert^Dr.^PhD', 'Yamada^Tarou=山田^太郎=やまだ^たろう', 'Wang^XiaoDong=王^小東']) {
  console.log(`${name}: ${Object.entries(parser.parsePN(name)).filter(([, part]) => part).map((pair) => pair.join(' ')).join(', ')}`);
}
JS

expected="$(cat <<'SEEN'
Adams^John^Robert^Dr.^PhD: familyName Adams, givenName John, middleName Robert, prefix Dr., suffix PhD
Yamada^Tarou=山田^太郎=やまだ^たろう: familyName Yamada, givenName Tarou=山田, middleName 太郎=やまだ, prefix たろう
Wang^XiaoDong=王^小東: familyName Wang, givenName XiaoDong=王, middleName 小東
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "dicom-parser@1.8.21, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
