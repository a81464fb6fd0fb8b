#!/usr/bin/env bash
# The last event of each channel loses its last digit, and 0 for "all events" reads 1000.
# Grouped by parameter, as text, the last 111 is 11: a comma is cut off where there is none. A comment in the source says that 0 means
# "all events", but it counts as not set; the README names -1, which works. Guess: all values of the file.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . fcs@0.0.7

cat >try.mjs <<'JS'
import FCS from 'fcs';
function file(events) {
  const text = ['$BYTEORD', '1,2,3,4', '$DATATYPE', 'I', '$MODE', 'L', '$NEXTDATA', '0', '$PAR', '2', '$TOT', events.length];
  const channels = ['$P1N', 'FSC-A', '$P1B', '16', '$P1R', '1024', '$P1E', '0,0', '$P2N', 'FL1-A', '$P2B', '16', '$P2R', '1024', '$P2E', '0,0', ''];
  const data = Buffer.from(new Uint16Array(events.flat()).buffer);
  const place = (name, first, last) => [`$BEGIN${name}`, String(first).padStart(8, '0'), `$END${name}`, String(last).padStart(8, '0')];
  const segmentWith = (first, last) =>
    ['', ...place('DATA', first, last), ...place('STEXT', 0, 0), ...place('ANALYSIS', 0, 0), ...text, ...channels].join('/');
  const { length } = segmentWith(0, 0);
  const [first, last] = [58 + length, 57 + length + data.length];
  const segment = segmentWith(first, last);
  const places = [58, 57 + length, first, last, 0, 0];
  return Buffer.concat([Buffer.from(`FCS3.0    ${places.map((place) => String(place).padStart(8)).join('')}${segment}`), data]);
}
const three = [[12, 345], [678, 901], [111, 222]];
const read = new FCS({ groupBy: 'byParam' }, file(three));
console.log('FSC-A', read.getStringData(1), 'FL1-A', read.getStringData(2));
const many = file(Array.from({ length: 1500 }, () => [1, 2]));
for (const eventsToRead of [0, -1]) console.log('eventsToRead', eventsToRead, new FCS({ dataFormat: 'asNumber', eventsToRead }, many).dataAsNumbers.length);
JS

expected="$(cat <<'SEEN'
FSC-A [12,678,11] FL1-A [345,901,22]
eventsToRead 0 1000
eventsToRead -1 1500
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "fcs@0.0.7, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
