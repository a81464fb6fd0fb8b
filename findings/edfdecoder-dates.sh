#!/usr/bin/env bash
# A recording of January 2026 began in March 1926.
# EDF writes the day, month and year in two digits each. edfdecoder hands them to Date, which counts months from 0 and takes 26 for 1926.
# Guess: 31 January 2026, as EDF counts years below 85 in this century.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . edfdecoder@0.1.2

cat >try.mjs <<'JS'
import edf from 'edfdecoder';
function startOf(date) {
  const text = (value, width) => String(value).padEnd(width);
  const head = text(0, 8) + text('X X X X', 80) + text('Startdate X X X X', 80) + date + '09.30.00' + text(512, 8) + text('', 44);
  const signal = text('ECG', 16) + text('', 80) + text('mV', 8) + text(-1, 8) + text(1, 8) + text(-1000, 8) + text(1000, 8);
  const file = Buffer.from(head + text(1, 8) + text(1, 8) + text(1, 4) + signal + text('', 80) + text(1, 8) + text('', 32) + '\0\0');
  const decoder = new edf.EdfDecoder();
  decoder.setInput(file.buffer.slice(file.byteOffset, file.byteOffset + file.length));
  decoder.decode();
  const start = decoder.getOutput().getRecordingStartDate();
  return [start.getFullYear(), start.getMonth() + 1, start.getDate()].join('-');
}
for (const date of ['02.03.26', '31.01.26', '24.12.99']) console.log(date, '->', startOf(date));
JS

expected="$(cat <<'SEEN'
02.03.26 -> 1926-4-2
31.01.26 -> 1926-3-3
24.12.99 -> 2000-1-24
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "edfdecoder@0.1.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
