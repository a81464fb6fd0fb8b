#!/usr/bin/env bash
# A p-value of 1e-5 is 1 until the whole answer is there.
# best-effort-json-parser reads the JSON of an answer while it is being written. Numbers with an exponent are cut at the E until the last
# brace, however long ago they were complete, and their rest becomes a key. Guess: only a number at the very end can be cut.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . best-effort-json-parser@1.5.1

cat >try.mjs <<'JS'
import { parse } from 'best-effort-json-parser';
const answer = '{"gene":"TP53","p":1e-5,"fold":2.5e3,"reads":12}';
for (const end of [23, 24, 34, answer.length - 1, answer.length]) {
  const written = answer.slice(0, end);
  console.log(written, '->', JSON.stringify(parse(written)));
}
JS

expected="$(cat <<'SEEN'
{"gene":"TP53","p":1e-5 -> {"gene":"TP53","p":1}
{"gene":"TP53","p":1e-5, -> {"gene":"TP53","p":1}
{"gene":"TP53","p":1e-5,"fold":2.5 -> {"gene":"TP53","p":1,"e-5,\"fold\"":2.5}
{"gene":"TP53","p":1e-5,"fold":2.5e3,"reads":12 -> {"gene":"TP53","p":1,"e-5,\"fold\"":2.5,"e3,\"reads\"":12}
{"gene":"TP53","p":1e-5,"fold":2.5e3,"reads":12} -> {"gene":"TP53","p":0.00001,"fold":2500,"reads":12}
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "best-effort-json-parser@1.5.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
