#!/usr/bin/env bash
# After an empty line, a setting of pump A is one of no pump at all.
# iniparser ends a section at an empty line, and takes what follows for settings of the whole file. Settings with a space in their name are
# missing. Guess: sections end where the next one begins, and Max pressure is there.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . iniparser@1.0.5

cat >try.mjs <<'JS'
import { parseString } from 'iniparser';
const method = ['[Pump A]', 'flow=1.0', '', 'pressure=200', '[Pump B]', 'flow=0.2', 'Max pressure=400', '', 'pressure=150'];
console.log(JSON.stringify(parseString(method.join('\n'))));
JS

expected="$(cat <<'SEEN'
{"Pump A":{"flow":"1.0"},"pressure":"150","Pump B":{"flow":"0.2"}}
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "iniparser@1.0.5, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
