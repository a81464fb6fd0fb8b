#!/usr/bin/env bash
# From the arms of one centre of a trial one knows three quarters of those of the next, one place later.
# seed-shuffle draws sin(seed), sin(seed + 1) and so on: the draws of seed 2 are those of seed 1 without the first. Centres with the seeds
# 1, 2, 3 … and a list of half A, then half B, show it best. Guess: a half, as of any two lists.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . seed-shuffle@1.0.0

cat >try.mjs <<'JS'
import { shuffle } from 'seed-shuffle';
const centres = 1000;
const share = (count) => `${Math.round((100 * count) / centres)} of 100`;
for (const size of [4, 40]) {
  const arms = 'A'.repeat(size / 2) + 'B'.repeat(size / 2);
  const lists = Array.from({ length: centres + 1 }, (_, index) => shuffle([...arms], index + 1));
  for (const [name, places] of Object.entries({ 'the same place': 0, 'one place later': 1 })) {
    let equal = 0;
    for (let centre = 0; centre < centres; centre += 1) {
      const here = lists[centre].slice(0, size - places);
      equal += here.filter((arm, place) => arm === lists[centre + 1][place + places]).length / here.length;
    }
    console.log(`${size} participants, ${name}: ${share(equal)} equal at the next centre`);
  }
}
const patients = ['P1', 'P2', 'P3', 'P4'];
console.log('seeds 0 and 1:', shuffle([...patients], 0).join(' '), 'and', shuffle([...patients], 1).join(' '));
JS

expected="$(cat <<'SEEN'
4 participants, the same place: 50 of 100 equal at the next centre
4 participants, one place later: 64 of 100 equal at the next centre
40 participants, the same place: 50 of 100 equal at the next centre
40 participants, one place later: 76 of 100 equal at the next centre
seeds 0 and 1: P2 P1 P4 P3 and P2 P1 P4 P3
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "seed-shuffle@1.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
