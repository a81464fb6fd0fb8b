#!/usr/bin/env bash
# A pH of 7.4 is 74, and a p-value of 0.05 is 005.
# keyword-extractor takes points and commas out of words before it looks for numbers, so that decimals become whole ones. By default it leaves
# out words that are numbers, but not "p=005". Guess: 7.4 where numbers are asked for, none where not.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . keyword-extractor@0.3.0

cat >try.mjs <<'JS'
import extractor from 'keyword-extractor';
const words = (text, digits) => JSON.stringify(extractor.extract(text, { language: 'english', remove_digits: !digits, return_changed_case: false }));
for (const text of ['cells grown at pH 7.4 with 1,5 mM glucose', 'higher IL-6 levels, 5.5 ng/ml (p=0.05)', 'version 10.2 of chr1:1.234.567']) {
  console.log(`${text}: with digits ${words(text, true)}, without ${words(text, false)}`);
}
JS

expected="$(cat <<'SEEN'
cells grown at pH 7.4 with 1,5 mM glucose: with digits ["cells","grown","pH","74","15","mM","glucose"], without ["cells","grown","pH","mM","glucose"]
higher IL-6 levels, 5.5 ng/ml (p=0.05): with digits ["higher","IL-6","levels","55","ng/ml","p=005"], without ["higher","IL-6","levels","ng/ml","p=005"]
version 10.2 of chr1:1.234.567: with digits ["version","102","chr11234567"], without ["version","chr11234567"]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "keyword-extractor@0.3.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
