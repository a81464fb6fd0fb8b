#!/usr/bin/env bash
# A file called 5'-UTR.fa is listed under a name that does not exist.
# Stores may write signs of a name as numeric entities; those in Go, MinIO among them, write ' as &#39; and " as &#34;. s3mini knows the
# five named entities only. The ETag that getEtag gives is then not equal to the one of the list. Guess: names as they are.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . s3mini@1.0.2

cat >try.mjs <<'JS'
import { createServer } from 'node:http';
import { S3mini } from 's3mini';
const names = ['a &amp; b.fa', '5&apos;-UTR.fa', '5&#39;-UTR.fa'];
const files = names.map((name) => `<Contents><Key>${name}</Key><ETag>&#34;9e1&#34;</ETag><Size>4</Size></Contents>`).join('');
const server = createServer((request, response) => {
  response.setHeader('etag', '"9e1"');
  response.end(request.method === 'HEAD' ? undefined : `<ListBucketResult><IsTruncated>false</IsTruncated>${files}</ListBucketResult>`);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const endpoint = `http://127.0.0.1:${server.address().port}/bucket`;
const store = new S3mini({ accessKeyId: 'key', secretAccessKey: 'secret', endpoint, region: 'us-east-1' });
for (const [index, { Key, ETag }] of (await store.listObjects()).entries()) console.log(names[index], '->', Key, ETag);
console.log(await store.getEtag("5'-UTR.fa"));
process.exit();
JS

expected="$(cat <<'SEEN'
a &amp; b.fa -> a & b.fa &#34;9e1&#34;
5&apos;-UTR.fa -> 5'-UTR.fa &#34;9e1&#34;
5&#39;-UTR.fa -> 5&#39;-UTR.fa &#34;9e1&#34;
9e1
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "s3mini@1.0.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
