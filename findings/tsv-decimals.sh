#!/usr/bin/env bash
# A dose of 1.5 and one of 2 are together 1.52, and after CRLF each sample is followed by one without a name.
# Whole numbers become numbers, also the id 007; all others stay text. The text is cut at each \r and at each \n.
# Guess: numbers or text throughout, and one row a line.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . tsv@0.2.0

cat >try.mjs <<'JS'
import TSV from 'tsv';
const rows = TSV.parse('id\tdose\n007\t1.5\n1E5\t2\n012\t1e-3');
for (const row of rows) console.log(JSON.stringify(row));
console.log('1.5 + 2 =', rows[0].dose + rows[1].dose);
console.log(JSON.stringify(TSV.parse('id\tdose\r\nS1\t1\r\nS2\t2\r\n')));
JS

expected="$(cat <<'SEEN'
{"id":7,"dose":"1.5"}
{"id":"1E5","dose":2}
{"id":12,"dose":"1e-3"}
1.5 + 2 = 1.52
[{"id":""},{"id":"S1","dose":1},{"id":""},{"id":"S2","dose":2},{"id":""},{"id":""}]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "tsv@0.2.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
