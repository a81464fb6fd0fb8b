#!/usr/bin/env bash
# In a streamed answer, words run together, and of a step of two lines the first one is missing.
# event-source-plus takes all spaces from the beginning and the end of an event's data, and keeps the last of several data lines. The
# standard takes one space, and joins the lines. Guess: as in the standard, and as eventsource-parser does.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . event-source-plus@0.1.15 eventsource-parser@4.1.3

cat >try.mjs <<'JS'
import { EventSourcePlus } from 'event-source-plus';
import { createParser } from 'eventsource-parser';
import { createServer } from 'node:http';
const stream = 'data: Give\n\ndata:  5\n\ndata:  mg\n\ndata: wash\ndata: dry\n\ndata: if x:\ndata:     y = 5\n\ndata: end\n\n';
const words = [];
createParser({ onEvent: (event) => words.push(event.data) }).feed(stream);
console.log('eventsource-parser', JSON.stringify(words));
const server = createServer((request, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).write(stream));
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const source = new EventSourcePlus(`http://127.0.0.1:${server.address().port}/`);
const read = await new Promise((resolve) => {
  const data = [];
  source.listen({ onMessage: (message) => (data.push(message.data), message.data.endsWith('end') && resolve(data)) });
});
console.log('event-source-plus', JSON.stringify(read));
process.exit();
JS

expected="$(cat <<'SEEN'
eventsource-parser ["Give"," 5"," mg","wash\ndry","if x:\n    y = 5","end"]
event-source-plus ["Give","5","mg","dry","y = 5","end"]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "event-source-plus@0.1.15, eventsource-parser@4.1.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
