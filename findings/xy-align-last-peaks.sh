#!/usr/bin/env bash
# The last peaks of the longer spectrum are gone once it is aligned.
# With common: false, xyAlign of ml-spectra-processing keeps the peaks that only one spectrum has, with 0 for the other one. After two peaks
# that match, it forgets what is left of one spectrum if the other one has ended. Guess: all peaks of both.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-spectra-processing@14.35.1

cat >try.mjs <<'JS'
import { xyAlign } from 'ml-spectra-processing';
const show = (title, first, second, options) => {
  const peaks = (xs) => ({ x: xs, y: xs.map((_, index) => 10 * (index + 1)) });
  const { x, y1, y2 } = xyAlign(peaks(first), peaks(second), { common: false, delta: 0.1, ...options });
  console.log(`${title}: x ${x.join(' ')}, first ${y1.join(' ')}, second ${y2.join(' ')}`);
};
show('100 200 with 100 200 300', [100, 200], [100, 200, 300]);
show('100 200 300 with 100 200', [100, 200, 300], [100, 200]);
show('100 with 100 200 300 400', [100], [100, 200, 300, 400]);
show('100 250 with 100 200 300', [100, 250], [100, 200, 300]);
JS

expected="$(cat <<'SEEN'
100 200 with 100 200 300: x 100 200, first 10 20, second 10 20
100 200 300 with 100 200: x 100 200, first 10 20, second 10 20
100 with 100 200 300 400: x 100, first 10, second 10
100 250 with 100 200 300: x 100 200 250 300, first 10 0 20 0, second 10 20 0 30
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-spectra-processing@14.35.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
