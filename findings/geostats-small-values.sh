#!/usr/bin/env bash
# P-values of 1e-7 are 0, and doses of 0.011, 0.033 and 0.055 are all alike.
# geostats rounds a series to the decimals that its values show as text, and 1e-7 shows none. A variance has two decimals, whatever the
# values, and the standard deviation is the root of that: 0.17 for 0.1796. Guess: the values as they are, and 0.018.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . geostats@2.1.0

cat >try.mjs <<'JS'
import geostats from 'geostats';
for (const values of [[1e-7, 3e-9, 2e-8], [0.05, 1.5e-7, 2e-7]]) console.log(`p-values ${values.join(', ')}: ${new geostats(values).serie.join(', ')}`);
for (const values of [[0.011, 0.033, 0.055], [0.11, 0.33, 0.55], [11, 33, 55]]) {
  const series = new geostats(values);
  console.log(`${values.join(', ')}: variance ${series.variance()}, standard deviation ${series.stddev()}`);
}
JS

expected="$(cat <<'SEEN'
p-values 1e-7, 3e-9, 2e-8: 0, 0, 0
p-values 0.05, 1.5e-7, 2e-7: 0.05, 0, 0
0.011, 0.033, 0.055: variance 0, standard deviation 0
0.11, 0.33, 0.55: variance 0.03, standard deviation 0.17
11, 33, 55: variance 322.67, standard deviation 17.96
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "geostats@2.1.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
