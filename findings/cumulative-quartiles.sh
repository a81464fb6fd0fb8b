#!/usr/bin/env bash
# Half of a signal from 100 to 103 lies below 97.
# xyCumulativeDistributionStatistics of ml-spectra-processing draws its line from the first point backwards if that one holds more than a
# quarter of the signal, as the first ions of a scan may. Guess: 100.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-spectra-processing@14.35.1

cat >try.mjs <<'JS'
import { xyCumulativeDistributionStatistics } from 'ml-spectra-processing';
const show = (title, y) => {
  const { x0, x25, x50, x75, x100 } = xyCumulativeDistributionStatistics({ x: [100, 101, 102, 103], y });
  console.log(`${title}: ${[x0, x25, x50, x75, x100].map((value) => value?.toFixed(1)).join(' ')}`);
};
show('10 10 10 10', [10, 10, 10, 10]);
show('80 10 5 5', [80, 10, 5, 5]);
show('5 5 10 80', [5, 5, 10, 80]);
show('60 0 0 40', [60, 0, 0, 40]);
JS

expected="$(cat <<'SEEN'
10 10 10 10: 100.0 100.0 101.0 102.0 103.0
80 10 5 5: 100.0 94.5 97.0 99.5 103.0
5 5 10 80: 100.0 102.1 102.4 102.7 103.0
60 0 0 40: 100.0 -Infinity -Infinity 102.4 103.0
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-spectra-processing@14.35.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
