#!/usr/bin/env bash
# parse-sse 0.1.0 hands on the last event of a stream that broke off in the middle: of "data: 0.05" cut after the 0 it gives a whole event with
# the dose 0. (An event ends with an empty line; the HTML standard has what comes without it thrown away.)
# Guess: no event for what was not finished, as in eventsource-parser.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . parse-sse@0.1.0

cat >try.mjs <<'JS'
import { parseServerSentEvents } from 'parse-sse';
const whole = 'data: 0.02\n\ndata: 0.05\n\n';
for (const length of [whole.length, 22, 19]) {
  const doses = [];
  for await (const { data } of parseServerSentEvents(new Response(whole.slice(0, length), { headers: { 'content-type': 'text/event-stream' } }))) doses.push(data);
  console.log(length, 'characters:', doses.join(', '));
}
JS

expected="$(cat <<'SEEN'
24 characters: 0.02, 0.05
22 characters: 0.02, 0.05
19 characters: 0.02, 0
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "parse-sse@0.1.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
