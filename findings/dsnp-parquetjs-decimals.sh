#!/usr/bin/env bash
# A dose of 0.29 is read as 0.28; the second dose is 0, and the third one the second.
# @dsnp/parquetjs cuts what it multiplies instead of rounding it, so that decimals lose their last cent. It reads decimals of up to nine digits,
# which it writes in four bytes, as if they had eight: zeros come between. hyparquet reads them well. Guess: the same numbers.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @dsnp/parquetjs@1.8.7 hyparquet@1.31.5

cat >try.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { parquetReadObjects } from 'hyparquet';
import parquet from '@dsnp/parquetjs';
for (const [precision, doses] of [[10, [0.29, 1.15, 19.99, 100.25]], [4, [1.25, 2.5, 3.75]]]) {
  const schema = new parquet.ParquetSchema({ dose: { precision, scale: 2, type: 'DECIMAL' } });
  const writer = await parquet.ParquetWriter.openFile(schema, 'doses.parquet');
  for (const dose of doses) await writer.appendRow({ dose });
  await writer.close();
  const reader = await parquet.ParquetReader.openFile('doses.parquet');
  const cursor = reader.getCursor();
  const seen = [];
  for (const _ of doses) seen.push((await cursor.next()).dose);
  await reader.close();
  const file = new Uint8Array(readFileSync('doses.parquet')).buffer;
  const others = (await parquetReadObjects({ file })).map(({ dose }) => dose);
  console.log(`${precision} digits: ${doses.join(', ')} read back as ${seen.join(', ')}, by hyparquet as ${others.join(', ')}`);
}
JS

expected="$(cat <<'SEEN'
10 digits: 0.29, 1.15, 19.99, 100.25 read back as 0.28, 1.14, 19.98, 100.25, by hyparquet as 0.28, 1.1400000000000001, 19.98, 100.25
4 digits: 1.25, 2.5, 3.75 read back as 1.25, 0, 2.5, by hyparquet as 1.25, 2.5, 3.75
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@dsnp/parquetjs@1.8.7, hyparquet@1.31.5, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
