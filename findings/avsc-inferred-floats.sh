#!/usr/bin/env bash
# A reading with half a second in its time was taken 50 seconds earlier.
# avsc takes a number with a fraction for a float of 32 bits when it infers a schema from a value, and writes it so without a message.
# Without the fraction it is an int, and right. Guess: double, and the numbers come back as they were.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . avsc@5.7.9

cat >try.mjs <<'JS'
import avro from 'avsc';
const readings = [{ time: 1790000050, area: 123456789 }, { time: 1790000050.5, area: 123456789.5 }];
for (const reading of readings) {
  const type = avro.Type.forValue(reading);
  const kinds = type.fields.map(({ name, type: { typeName } }) => `${name} ${typeName}`).join(', ');
  console.log(`${JSON.stringify(reading)} as ${kinds}: ${JSON.stringify(type.fromBuffer(type.toBuffer(reading)))}`);
}
JS

expected="$(cat <<'SEEN'
{"time":1790000050,"area":123456789} as time int, area int: {"time":1790000050,"area":123456789}
{"time":1790000050.5,"area":123456789.5} as time float, area float: {"time":1790000000,"area":123456792}
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "avsc@5.7.9, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
