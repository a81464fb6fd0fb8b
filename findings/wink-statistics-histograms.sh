#!/usr/bin/env bash
# In a histogram of eleven body temperatures, the fever of 39.3 °C is missing.
# Without a precision, wink-statistics rounds the ends of its classes to whole numbers: three classes of 1 from 36.4 end at 39. Its
# description asks for the lowest number of decimals among the values, here 0. Guess: counts that add up to eleven.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . wink-statistics@2.1.1

cat >try.mjs <<'JS'
import statistics from 'wink-statistics';
const temperatures = [36.4, 36.5, 36.6, 36.6, 36.7, 36.8, 37, 37.4, 37.6, 38.4, 39.3];
for (const values of [temperatures.slice(0, 10), temperatures]) for (const precision of [undefined, 1]) {
  const { classes, frequencies } = statistics.data.histogram(values, precision);
  const counted = frequencies.reduce((sum, count) => sum + count, 0);
  const shown = classes.map(({ min, max }, index) => `${frequencies[index]} of ${min} to ${max}`).join(', ');
  console.log(`${values.length} values up to ${values.at(-1)}, precision ${precision}: ${counted} - ${shown}`);
}
JS

expected="$(cat <<'SEEN'
10 values up to 38.4, precision undefined: 9 - 7 of 36 to 37, 2 of 37 to 38
10 values up to 38.4, precision 1: 10 - 7 of 36.4 to 37.2, 2 of 37.2 to 38, 1 of 38 to 38.8
11 values up to 39.3, precision undefined: 10 - 7 of 36 to 37, 2 of 37 to 38, 1 of 38 to 39
11 values up to 39.3, precision 1: 11 - 7 of 36.4 to 37.3, 2 of 37.3 to 38.2, 1 of 38.2 to 39.1, 1 of 39.1 to 40
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "wink-statistics@2.1.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
