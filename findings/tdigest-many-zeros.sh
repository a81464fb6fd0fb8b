#!/usr/bin/env bash
# The third quartile of nine zeros and one 100 is 60.
# A t-digest keeps equal values together as one heavy point and draws lines between the points. With few distinct values, as counts of a
# rare gene have them, percentiles are numbers that nobody measured. The discrete mode has them right. Guess: exact for so few values.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . tdigest@0.1.3

cat >try.mjs <<'JS'
import tdigest from 'tdigest';
function quartiles(values, delta) {
  const digest = new tdigest.TDigest(delta);
  digest.push(values);
  return [0.25, 0.5, 0.75].map((share) => digest.percentile(share)).join(' ');
}
console.log('1 to 9:', quartiles([1, 2, 3, 4, 5, 6, 7, 8, 9]));
console.log('nine zeros, 100:', quartiles([...Array(9).fill(0), 100]));
console.log('99 zeros, 1000:', quartiles([...Array(99).fill(0), 1000]));
console.log('1 1 1 100:', quartiles([1, 1, 1, 100]));
console.log('1 1 1 100, discrete:', quartiles([1, 1, 1, 100], false));
JS

expected="$(cat <<'SEEN'
1 to 9: 2.75 5 7.25
nine zeros, 100: 0 10 60
99 zeros, 1000: 0 10 510
1 1 1 100: 1 25.75 75.25
1 1 1 100, discrete: 1 1 1
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "tdigest@0.1.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
