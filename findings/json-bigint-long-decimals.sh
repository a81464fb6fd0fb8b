#!/usr/bin/env bash
# A mean of 0.30000000000000004 plus 1 is 0.300000000000000041.
# json-bigint is there for large integers. It takes any number of more than 15 signs for one, also a decimal: JavaScript, Python and R write
# doubles with up to 17 digits. A list then holds numbers and objects, or numbers and text. Guess: decimals are numbers.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . json-bigint@1.0.0

cat >try.mjs <<'JS'
import JSONbig from 'json-bigint';
const text = JSON.stringify({ mean: 0.1 + 0.2, half: 0.5 });
for (const [name, reader] of Object.entries({ default: JSONbig, storeAsString: JSONbig({ storeAsString: true }) })) {
  const { mean, half } = reader.parse(text);
  console.log(`${name}: ${typeof mean} and ${typeof half}, plus 1: ${mean + 1} and ${half + 1}, equal: ${mean === 0.1 + 0.2}`);
  const thirds = reader.parse(JSON.stringify(Array.from({ length: 1000 }, (_, index) => index / 3)));
  console.log(`${name}: of 1000 thirds, ${thirds.filter((value) => typeof value === 'number').length} are numbers`);
}
JS

expected="$(cat <<'SEEN'
default: object and number, plus 1: 0.300000000000000041 and 1.5, equal: false
default: of 1000 thirds, 334 are numbers
storeAsString: string and number, plus 1: 0.300000000000000041 and 1.5, equal: false
storeAsString: of 1000 thirds, 334 are numbers
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "json-bigint@1.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
