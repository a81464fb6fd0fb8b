#!/usr/bin/env bash
# yamljs 0.3.0 reads a dose written as 1,5 as the number 15, 12,5 as 125 and -0,5 as -5: commas in what looks like a number are taken out.
# 0,5 stays the text "0,5", and 1,2,3 is 12.
# Guess: a text, as in YAML 1.2 (and in js-yaml and yaml), or the number for none of them.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . yamljs@0.3.0

cat >try.mjs <<'JS'
import yaml from 'yamljs';
for (const dose of ['1,5', '12,5', '0,5', '-0,5', '1,2,3', '1.5']) console.log(dose, JSON.stringify(yaml.parse(`dose: ${dose}`).dose));
JS

expected="$(cat <<'SEEN'
1,5 15
12,5 125
0,5 "0,5"
-0,5 -5
1,2,3 12
1.5 1.5
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "yamljs@0.3.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
