#!/usr/bin/env bash
# s3://lab/plate#3.csv is the object "plate", and 50%25.csv is 50%.csv.
# The name after s3://bucket/ is the key as it is, as the commands of AWS take it. s3urls and amazon-s3-uri read it like a web address: what
# follows # or ? is gone, and %25 is decoded. s3urls also makes a bucket of the first word of one with dots. Guess: the key as written.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . s3urls@1.5.2 amazon-s3-uri@1.0.0

cat >try.mjs <<'JS'
import AmazonS3URI from 'amazon-s3-uri';
import s3urls from 's3urls';
for (const address of ['s3://lab/plate#3.csv', 's3://lab/well?.csv', 's3://lab/50%25.csv', 'https://my.lab.data.s3.amazonaws.com/a.csv']) {
  const { Bucket, Key } = s3urls.fromUrl(address);
  const { bucket, key } = new AmazonS3URI(address);
  console.log(address, '=>', Bucket, Key, '|', bucket, key);
}
JS

expected="$(cat <<'SEEN'
s3://lab/plate#3.csv => lab plate | lab plate
s3://lab/well?.csv => lab well | lab well
s3://lab/50%25.csv => lab 50%.csv | lab 50%.csv
https://my.lab.data.s3.amazonaws.com/a.csv => my a.csv | my.lab.data a.csv
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "s3urls@1.5.2, amazon-s3-uri@1.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
