#!/usr/bin/env bash
# Isolates that differ by one SNP are no cluster at a threshold of one SNP, and one can be noise and in a cluster.
# DBSCAN takes those at a distance of at most epsilon; this one takes those below it, which matters for counts of differences. What was
# noise stays noise when a cluster reaches it later. Guess: at most, and one or the other.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . density-clustering@1.3.0

cat >try.mjs <<'JS'
import clustering from 'density-clustering';
const isolates = ['AAAA', 'AAAC', 'AACC', 'GGGG'];
const differences = (one, other) => [...one].filter((base, index) => base !== other[index]).length;
for (const [most, least] of [[1, 2], [2, 2], [2, 3]]) {
  const scan = new clustering.DBSCAN();
  const clusters = scan.run(isolates, most, least, differences).map((members) => members.map((index) => isolates[index]).join(' '));
  const noise = scan.noise.map((index) => isolates[index]).join(' ');
  console.log(`at most ${most}, at least ${least} isolates: clusters [${clusters.join('], [')}], noise [${noise}]`);
}
JS

expected="$(cat <<'SEEN'
at most 1, at least 2 isolates: clusters [], noise [AAAA AAAC AACC GGGG]
at most 2, at least 2 isolates: clusters [AAAA AAAC AACC], noise [GGGG]
at most 2, at least 3 isolates: clusters [AAAC AAAA AACC], noise [AAAA GGGG]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "density-clustering@1.3.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
