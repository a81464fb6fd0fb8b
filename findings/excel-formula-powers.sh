#!/usr/bin/env bash
# excel-formula 1.5.0 turns a sheet's power into JavaScript's exclusive or: =10^6 becomes 10^6, which is 12 when run, and =2*3^2 is 4. 80%
# stays 80%, the rest of a division (=50%*4 does not even parse, =80%+2 is a remainder).
# Guess: 10**6 or Math.pow(10, 6), and 80/100.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . excel-formula@1.5.0

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const { toJavaScript } = createRequire(import.meta.url)('excel-formula');
for (const formula of ['=10^6', '=2*3^2', '=70/1.75^2', '=80%+2']) {
  const code = toJavaScript(formula);
  console.log(formula, code, Function(`return ${code}`)());
}
JS

expected="$(cat <<'SEEN'
=10^6 10^6 12
=2*3^2 2*3^2 4
=70/1.75^2 70/1.75^2 42
=80%+2 80%+2 0
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "excel-formula@1.5.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
