#!/usr/bin/env bash
# The p-values of a table from limma are gone where the adjusted ones stand beside them.
# A dot in a column's name makes an object. If one name is the beginning of another, as p.value is of p.value.adj and F of F.p.value in the
# files that write.fit of limma makes, one of the two values is lost without an error. Guess: objects perhaps, but all values.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . csvtojson@2.0.14

cat >try.mjs <<'JS'
import csvtojson from 'csvtojson';
const table = 'gene,p.value,p.value.adj,F,F.p.value\nMYC,0.001,0.04,9.1,0.002\n';
console.log(JSON.stringify(await csvtojson().fromString(table)));
console.log(JSON.stringify(await csvtojson().fromString('gene,p.value.adj,p.value\nMYC,0.04,0.001\n')));
console.log('flat:', JSON.stringify(await csvtojson({ flatKeys: true }).fromString(table)));
JS

expected="$(cat <<'SEEN'
[{"gene":"MYC","p":{"value":{"adj":"0.04"}},"F":{"p":{"value":"0.002"}}}]
[{"gene":"MYC","p":{"value":"0.001"}}]
flat: [{"gene":"MYC","p.value":"0.001","p.value.adj":"0.04","F":"9.1","F.p.value":"0.002"}]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "csvtojson@2.0.14, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
