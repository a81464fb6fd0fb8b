#!/usr/bin/env bash
# nmea-simple 3.3.0 puts a receiver without a fix at latitude -0 and longitude -0, in the Gulf of Guinea, at 0 m with a dilution of 0
# (better than any real one): the empty fields of a GGA sentence are read as 0. An altitude that is missing with a fix is 0 m as well.
# Guess: null, undefined or NaN where the sentence has nothing.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . nmea-simple@3.3.0

cat >try.mjs <<'JS'
import { parseNmeaSentence } from 'nmea-simple';
function sentence(text) {
  const sum = [...text].reduce((value, letter) => value ^ letter.charCodeAt(0), 0);
  return `$${text}*${sum.toString(16).toUpperCase().padStart(2, '0')}`;
}
const lines = [
  'GPGGA,103000,5130.000,N,00006.000,W,1,08,0.9,35.0,M,47.0,M,,',
  'GPGGA,103000,,,,,0,00,,,M,,M,,',
  'GPGGA,103000,5130.000,N,00006.000,W,1,03,2.9,,M,,M,,',
];
for (const line of lines) {
  const { fixType, latitude, longitude, altitudeMeters, horizontalDilution } = parseNmeaSentence(sentence(line));
  console.log(fixType, latitude, longitude, altitudeMeters, 'm', horizontalDilution);
}
JS

expected="$(cat <<'SEEN'
fix 51.5 -0.1 35 m 0.9
none -0 -0 0 m 0
fix 51.5 -0.1 0 m 2.9
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "nmea-simple@3.3.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
