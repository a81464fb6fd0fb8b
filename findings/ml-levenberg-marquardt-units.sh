#!/usr/bin/env bash
# In mol/l, the fit of a decay is the guess that it began with, and its error tiny.
# The fit ends as soon as the sum of squares is below 0.01, and takes slopes over steps of 0.1: both in the units of the data. In µM and
# hours it is right, in mol/l it does not begin, and in seconds it finds no rate. Guess: both are relative.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-levenberg-marquardt@5.1.0

cat >try.mjs <<'JS'
import { levenbergMarquardt } from 'ml-levenberg-marquardt';
const decay = ([rate, start]) => (time) => start * Math.exp(-rate * time);
const hours = [0, 1, 2, 4, 8, 16];
const micromolar = hours.map(decay([0.2, 3]));
function fit(name, time, amount) {
  const x = hours.map((hour) => hour * time);
  const y = micromolar.map((value) => value * amount);
  const { parameterValues, parameterError, iterations } = levenbergMarquardt({ x, y }, decay, {
    initialValues: [0.1 / time, 2 * amount],
  });
  const [rate, start] = parameterValues;
  const found = `${(rate * time).toPrecision(3)} an hour from ${(start / amount).toPrecision(3)} µM`;
  console.log(`${name}: ${found}, ${iterations} iterations, error ${parameterError.toPrecision(1)}`);
}
fit('hours and µM', 1, 1);
fit('hours and mol/l', 1, 1e-6);
fit('seconds and µM', 3600, 1);
JS

expected="$(cat <<'SEEN'
hours and µM: 0.200 an hour from 3.00 µM, 7 iterations, error 7e-8
hours and mol/l: 0.100 an hour from 2.00 µM, 0 iterations, error 2e-12
seconds and µM: 0.100 an hour from 2.00 µM, 100 iterations, error 2
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-levenberg-marquardt@5.1.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
