#!/usr/bin/env bash
# The good reading after an outlier goes with it, and absorbances have no outliers.
# filterOutliers of stats-analysis judges by the step from the reading before, which is large twice, and rounds steps to whole numbers: in AU
# instead of mAU none stands out. Its other method, by the median, is right. Guess: the outlier alone, in any unit.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . stats-analysis@2.0.0

cat >try.mjs <<'JS'
import stats from 'stats-analysis';
const show = (title, values, method) => console.log(`${title}: ${stats.filterOutliers(values, method).join(' ')}`);
const readings = [101, 102, 101, 100, 990, 103, 101, 102];
show('counts', readings);
show('counts, by their median', readings, stats.outlierMethod.MAD);
show('absorbances in mAU', [110, 120, 110, 100, 1900, 130, 110]);
show('absorbances in AU', [0.11, 0.12, 0.11, 0.1, 1.9, 0.13, 0.11]);
show('a dose from now on doubled', [10, 11, 10, 60, 61, 60, 61]);
JS

expected="$(cat <<'SEEN'
counts: 101 102 101 100 101 102
counts, by their median: 101 102 101 100 103 101 102
absorbances in mAU: 110 120 110 100 110
absorbances in AU: 0.11 0.12 0.11 0.1 1.9 0.13 0.11
a dose from now on doubled: 10 11 10 61 60 61
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "stats-analysis@2.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
