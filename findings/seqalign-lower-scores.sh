#!/usr/bin/env bash
# A local alignment that scores 6 is given a score of 5.
# seqalign takes the highest score to the left or above, and the gap off it. A score that is a little lower but nearer may leave more.
# Guess: the highest score of all, as by the recurrence of Smith and Waterman for gaps of 1 a letter.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . seqalign@1.0.6

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const aligner = createRequire(import.meta.url)('seqalign').SWaligner();
const best = (a, b) => {
  const scores = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
  for (let row = 1; row <= a.length; row++) for (let column = 1; column <= b.length; column++) {
    const pair = scores[row - 1][column - 1] + (a[row - 1] === b[column - 1] ? 2 : -1);
    scores[row][column] = Math.max(0, pair, scores[row - 1][column] - 1, scores[row][column - 1] - 1);
  }
  return Math.max(...scores.flat());
};
for (const [a, b] of [['ACGTACGT', 'ACGACGT'], ['CGAATATCT', 'AACT']]) {
  const { score, alignedSequences } = aligner.align(a, b);
  const [top, below] = alignedSequences;
  const counted = [...top].reduce((sum, letter, index) => sum + (letter === below[index] ? 2 : -1), 0);
  console.log(`${a} and ${b}: ${top} over ${below}, score ${score}, counted ${counted}, best ${best(a, b)}`);
}
JS

expected="$(cat <<'SEEN'
ACGTACGT and ACGACGT: ACGTACGT over ACG-ACGT, score 13, counted 13, best 13
CGAATATCT and AACT: ATATCT over A-A-CT, score 5, counted 6, best 6
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "seqalign@1.0.6, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
