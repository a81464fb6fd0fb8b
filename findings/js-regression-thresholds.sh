#!/usr/bin/env bash
# By the threshold of a regression that tells ill from healthy people without an exception, all are ill.
# @kobra-dev/js-regression computes the threshold of those trained on, which its description compares with, after it has put the constant 1
# before their values, and puts it there again: each threshold is that of a person with the value 1. Guess: that of the least ill person.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @kobra-dev/js-regression@1.0.12

cat >try.mjs <<'JS'
import regressions from '@kobra-dev/js-regression';
const people = [[1, 0], [2, 0], [3, 0], [4, 0], [6, 1], [7, 1], [8, 1], [9, 1]];
const regression = new regressions.LogisticRegression({ alpha: 0.1, iterations: 20000 });
const { threshold } = regression.fit(people);
const probability = ([value]) => regression.transform([value]);
console.log('probabilities of those who are healthy:', people.filter(([, ill]) => ill === 0).map((person) => probability(person).toFixed(6)).join(', '));
console.log('probabilities of those who are ill:', people.filter(([, ill]) => ill === 1).map((person) => probability(person).toFixed(3)).join(', '));
console.log('threshold:', threshold.toFixed(6));
console.log('ill by it:', people.filter((person) => probability(person) >= threshold).length, 'of', people.length);
JS

expected="$(cat <<'SEEN'
probabilities of those who are healthy: 0.000003, 0.000085, 0.002073, 0.048229
probabilities of those who are ill: 0.968, 0.999, 1.000, 1.000
threshold: 0.000003
ill by it: 8 of 8
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@kobra-dev/js-regression@1.0.12, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
