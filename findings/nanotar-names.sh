#!/usr/bin/env bash
# In a tar archive, "5 µM β.csv" is called 5, and both reads of a sample have one name.
# nanotar cuts a name at 100 bytes where it writes, so R1 and R2 become the same. Where it reads, a name of a pax header, as tar and Python
# write it for signs beyond ASCII and for long names, ends at its first space; a folder in a header's prefix is dropped. Guess: the names.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . nanotar@0.3.0 modern-tar@0.8.6

cat >try.mjs <<'JS'
import { packTar } from 'modern-tar';
import { createTar, parseTar } from 'nanotar';
const name = (read) => `${'sample-'.repeat(15)}${read}.fq`;
const [first, second] = parseTar(createTar(['R1', 'R2'].map((read) => ({ name: name(read), data: read }))));
console.log('written:', first.name.length, first.name === second.name);
for (const [path, pax] of [['5 _M _.csv', { path: '5 µM β.csv' }], [`plate 7 ${'of the screen '.repeat(7)}.csv`], [`${'screen/'.repeat(15)}plate.csv`]]) {
  const archive = await packTar([{ header: { name: path, size: 1, pax }, body: '1' }]);
  console.log(pax?.path ?? path, '=>', parseTar(archive).map((file) => file.name).join());
}
JS

expected="$(cat <<'SEEN'
written: 100 true
5 µM β.csv => 5
plate 7 of the screen of the screen of the screen of the screen of the screen of the screen of the screen .csv => plate
screen/screen/screen/screen/screen/screen/screen/screen/screen/screen/screen/screen/screen/screen/screen/plate.csv => plate.csv
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "nanotar@0.3.0, modern-tar@0.8.6, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
