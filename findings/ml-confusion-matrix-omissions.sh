#!/usr/bin/env bash
# A fifth of those who are told that they are well are ill, where it is one in 486.
# The false omission rate is the share of the ill among the negative results, one minus the negative predictive value. The package divides
# the missed ones by all who are ill, which is the miss rate. Guess: both lines of a pair add up to 1.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-confusion-matrix@2.0.0

cat >try.mjs <<'JS'
import { ConfusionMatrix } from 'ml-confusion-matrix';
const found = new ConfusionMatrix([[8, 2], [20, 970]], ['ill', 'well']);
const show = (name, value) => console.log(name.padEnd(26), value.toFixed(4));
show('positive predictive value', found.getPositivePredictiveValue('ill'));
show('false discovery rate', found.getFalseDiscoveryRate('ill'));
show('negative predictive value', found.getNegativePredictiveValue('ill'));
show('false omission rate', found.getFalseOmissionRate('ill'));
show('miss rate', found.getFalseNegativeRate('ill'));
JS

expected="$(cat <<'SEEN'
positive predictive value  0.2857
false discovery rate       0.7143
negative predictive value  0.9979
false omission rate        0.2000
miss rate                  0.2000
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-confusion-matrix@2.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
