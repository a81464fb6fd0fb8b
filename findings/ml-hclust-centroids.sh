#!/usr/bin/env bash
# The centres of two clusters lie 4 apart, and are joined at 3.5.
# For centroid and median linkage, ml-hclust puts distances into a formula that is one for squared distances. From the second join on,
# clusters are joined nearer than they are. R does the same, but its manual asks for squared distances. SciPy squares them, and has the
# distance between the centres. Guess: that.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-hclust@4.0.0

cat >try.mjs <<'JS'
import * as hclust from 'ml-hclust';
const { agnes } = hclust.default ?? hclust;
const join = (a, b, c) => {
  const heights = ['centroid', 'median'].map((method) => agnes([a, b, c], { method }).height.toFixed(3));
  const centre = a.map((value, index) => (value + b[index]) / 2);
  const apart = Math.hypot(...centre.map((value, index) => value - c[index])).toFixed(3);
  console.log(`${a} and ${b}, joined to ${c}: at ${heights.join(' and ')}, their centre lies ${apart} from it`);
};
join([0], [2], [5]);
join([0, 0], [2, 0], [1, 1.9]);
join([0, 0], [2, 0], [4, 3]);
JS

expected="$(cat <<'SEEN'
0 and 2, joined to 5: at 3.500 and 3.500, their centre lies 4.000 from it
0,0 and 2,0, joined to 1,1.9: at 1.647 and 1.647, their centre lies 1.900 from it
0,0 and 2,0, joined to 4,3: at 3.803 and 3.803, their centre lies 4.243 from it
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-hclust@4.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
