#!/usr/bin/env bash
# A file of bgzip is empty, and a FASTQ file of two lanes is the beginning of the first one.
# gunzipSync and gunzip of fflate make as much room as the last member of a gzip file has bytes, which is none in a file of bgzip, and
# fill it from the first one. There is no error; the class Gunzip and node:zlib read all members. Guess: all members, or an error.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . fflate@0.8.3

cat >try.mjs <<'JS'
import { gunzip, gunzipSync } from 'fflate';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
const end = Buffer.from('1f8b08040000000000ff0600424302001b0003000000000000000000', 'hex');
const lanes = [zlib.gzipSync('@read1\nACGT\n'), zlib.gzipSync('@read2\nA\n')];
for (const [name, file] of [['two lanes', Buffer.concat(lanes)], ['bgzip', Buffer.concat([...lanes, end])]]) {
  const texts = [zlib.gunzipSync(file), gunzipSync(file), await promisify(gunzip)(file)].map((bytes) => JSON.stringify(Buffer.from(bytes).toString()));
  console.log(name, '=>', texts.join(' | '));
}
JS

expected="$(cat <<'SEEN'
two lanes => "@read1\nACGT\n@read2\nA\n" | "@read1\nAC" | "@read1\nAC"
bgzip => "@read1\nACGT\n@read2\nA\n" | "" | ""
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "fflate@0.8.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
