#!/usr/bin/env bash
# An incubation of 1,5 h takes 15 h, and half an hour two hours or twelve.
# Both packages take any comma for one of thousands and leave out what they don't know, without an error: a fraction's stroke, a colon, the
# prefix of µs. A comma may be the decimal sign (Resolution 10 of the CGPM, 2003). Guess: 5400 s, 1800 s, and an error for the rest.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . parse-duration@2.1.9 timestring@7.0.0

cat >try.mjs <<'JS'
import parseDuration from 'parse-duration';
import timestring from 'timestring';
function ofTimestring(text) {
  try {
    return `${timestring(text)} s`;
  } catch {
    return 'an error';
  }
}
for (const text of ['1.5 h', '1,5 h', '1/2 h', '1:30', '1h30', '2-3 days', '5 µs'])
  console.log(`${text}: parse-duration ${parseDuration(text, 's')} s, timestring ${ofTimestring(text)}`);
JS

expected="$(cat <<'SEEN'
1.5 h: parse-duration 5400 s, timestring 5400 s
1,5 h: parse-duration 54000 s, timestring 54000 s
1/2 h: parse-duration 7201 s, timestring 43200 s
1:30: parse-duration 1.03 s, timestring an error
1h30: parse-duration 5400 s, timestring 3600 s
2-3 days: parse-duration 259202 s, timestring 259200 s
5 µs: parse-duration 0.000005 s, timestring 5 s
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "parse-duration@2.1.9, timestring@7.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
