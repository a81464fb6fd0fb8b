#!/usr/bin/env bash
# A score that is right for all of six samples has an accuracy of 3.
# ml-performance divides the right answers by the number of different scores, not by that of samples. Its error rate divides the false
# positives only, so that 3 missed samples are an error rate of 3. Guess: 1 at best, and both add up to 1.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-performance@0.2.0

cat >try.mjs <<'JS'
import Performance from 'ml-performance';
const truth = [[1, 1, 1, 0, 0, 0]];
for (const scores of [[0.9, 0.8, 0.7, 0.3, 0.2, 0.1], [3, 3, 3, 1, 1, 1]]) {
  const found = new Performance([scores], truth, { all: true, max: true });
  const [most, first] = [Math.max(...found.getMeasure('acc')), found.getMeasure('acc')[0]];
  console.log(`scores ${scores}: accuracy up to ${most}, at first ${first} with an error rate of ${found.getMeasure('err')[0]}`);
}
JS

expected="$(cat <<'SEEN'
scores 0.9,0.8,0.7,0.3,0.2,0.1: accuracy up to 1, at first 0.5 with an error rate of 3
scores 3,3,3,1,1,1: accuracy up to 3, at first 1.5 with an error rate of 3
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-performance@0.2.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
