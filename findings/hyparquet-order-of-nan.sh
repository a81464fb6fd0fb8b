#!/usr/bin/env bash
# A table ordered by its p-values is in no order if one of them is NaN.
# A p-value that could not be computed may be NaN in a Parquet file. With `orderBy`, rows stay on their side of it, so the best two are not
# the best. Guess: the numbers in order, and NaN last.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . hyparquet@1.33.0 hyparquet-writer@0.17.0

cat >try.mjs <<'JS'
import { parquetQuery } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
const gene = ['A', 'B', 'C', 'D', 'E'];
for (const padj of [[0.5, 0.3, 0.01, 0.4, 0.2], [0.5, Number.NaN, 0.01, Number.NaN, 0.2]]) {
  const file = parquetWriteBuffer({ columnData: [{ name: 'gene', data: gene }, { name: 'padj', data: padj }] });
  const rows = await parquetQuery({ file, orderBy: 'padj' });
  const best = await parquetQuery({ file, orderBy: 'padj', rowEnd: 2 });
  const shown = (some) => some.map((row) => `${row.gene} ${row.padj}`).join(', ');
  console.log('all:', shown(rows), '- best two:', shown(best));
}
JS

expected="$(cat <<'SEEN'
all: C 0.01, E 0.2, B 0.3, D 0.4, A 0.5 - best two: C 0.01, E 0.2
all: A 0.5, B NaN, C 0.01, D NaN, E 0.2 - best two: A 0.5, B NaN
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "hyparquet@1.33.0, hyparquet-writer@0.17.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
