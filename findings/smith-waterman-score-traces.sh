#!/usr/bin/env bash
# Two equal sequences of thirty bases align over 21 of them.
# smith-waterman-score walks back 21 steps at most, with the score of all thirty. At a gap it steps back in the sequence that has the gap,
# and loses its way. Guess: thirty bases; eleven pairs and one gap where a G is missing.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . smith-waterman-score@2.0.4

cat >try.mjs <<'JS'
import align from 'smith-waterman-score';
const shown = (a, b) => {
  const { peak, trace } = align(a, b, { match: 2, mismatch: -1, gap: -2 });
  const text = (key) => trace.map((step) => step[key]).reverse().join('');
  console.log(`${a} and ${b}: score ${peak.value}\n  ${text('seqChar')} and ${text('patChar')}`);
};
shown('ACGTTGCA', 'ACGTTGCA');
shown('ATGGCCATTGTAATGGGCCGCTGAAAGGGT', 'ATGGCCATTGTAATGGGCCGCTGAAAGGGT');
shown('AACCGGTTAACC', 'AACCGTTAACC');
shown('AACCGTTAACC', 'AACCGGTTAACC');
JS

expected="$(cat <<'SEEN'
ACGTTGCA and ACGTTGCA: score 16
  ACGTTGCA and ACGTTGCA
ATGGCCATTGTAATGGGCCGCTGAAAGGGT and ATGGCCATTGTAATGGGCCGCTGAAAGGGT: score 60
  GTAATGGGCCGCTGAAAGGGT and GTAATGGGCCGCTGAAAGGGT
AACCGGTTAACC and AACCGTTAACC: score 20
  GGGTTAACC and --GTTAACC
AACCGTTAACC and AACCGGTTAACC: score 20
  --GTTAACC and GGGTTAACC
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "smith-waterman-score@2.0.4, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
