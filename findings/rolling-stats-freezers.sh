#!/usr/bin/env bash
# The warmest that a freezer at -80 °C has ever been is 0 °C, and its last minute holds readings of before.
# rolling-stats begins the extremes of all times at 0. When it looks at a window, it takes out about half of what is too old, then half of the
# rest the next time. Guess: -20 °C, and one reading.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . rolling-stats@0.2.1

cat >try.mjs <<'JS'
import RollingStats from 'rolling-stats';
let seconds = 0;
const freezer = RollingStats(100, 60_000, () => seconds * 1000);
for (seconds = 0; seconds < 10; seconds += 1) freezer.point(-20);
const say = () => {
  const { allmax, allmin, count, max, mean } = freezer.calculate();
  console.log(`at ${seconds} s: ${count} readings of the last minute, mean ${mean.toFixed(1)}, max ${max}, of all times ${allmin} to ${allmax}`);
};
say();
seconds = 100;
freezer.point(-80);
for (let turn = 0; turn < 4; turn += 1) say();
JS

expected="$(cat <<'SEEN'
at 10 s: 10 readings of the last minute, mean -20.0, max -20, of all times -20 to 0
at 100 s: 5 readings of the last minute, mean -32.0, max -20, of all times -80 to 0
at 100 s: 2 readings of the last minute, mean -50.0, max -20, of all times -80 to 0
at 100 s: 1 readings of the last minute, mean -80.0, max -80, of all times -80 to 0
at 100 s: 1 readings of the last minute, mean -80.0, max -80, of all times -80 to 0
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "rolling-stats@0.2.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
