#!/usr/bin/env bash
# A file of lot 007 is tagged as lot 7, and version 1.10 is listed as 1.1.
# minio reads what looks like a number in an answer of the store as one: the values of tags, and the names that listObjectsV2 gives, by
# which the object is then not found. listObjects gives the names as they are. Guess: texts, as in the store.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . minio@8.0.7

cat >try.mjs <<'JS'
import { Client } from 'minio';
import { createServer } from 'node:http';
const names = ['007', '1.10', '0x1F', 'counts.csv'];
const tags = { lot: '007', version: '1.10', fresh: 'true' };
const server = createServer((request, response) => {
  const list = names.map((name) => `<Contents><Key>${name}</Key><ETag>"a"</ETag><Size>1</Size><LastModified>2026-12-01T10:30:00Z</LastModified></Contents>`).join('');
  const set = Object.entries(tags).map(([key, value]) => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`).join('');
  response.end(request.url.includes('tagging') ? `<Tagging><TagSet>${set}</TagSet></Tagging>` : `<ListBucketResult><Name>lab</Name><IsTruncated>false</IsTruncated>${list}</ListBucketResult>`);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const client = new Client({ endPoint: '127.0.0.1', port: server.address().port, useSSL: false, accessKey: 'key', secretKey: 'secret', region: 'us-east-1' });
for (const list of ['listObjects', 'listObjectsV2']) console.log(list, (await client[list]('lab', '', true).toArray()).map((object) => object.name));
console.log('tags', (await client.getObjectTagging('lab', 'counts.csv')).map(({ Key, Value }) => `${Key}: ${typeof Value} ${Value}`));
process.exit();
JS

expected="$(cat <<'SEEN'
listObjects [ '007', '1.10', '0x1F', 'counts.csv' ]
listObjectsV2 [ '7', '1.1', '31', 'counts.csv' ]
tags [ 'lot: number 7', 'version: number 1.1', 'fresh: boolean true' ]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "minio@8.0.7, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
