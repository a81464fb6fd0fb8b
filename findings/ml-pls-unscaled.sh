#!/usr/bin/env bash
# ml-pls 4.4.1 with scale false predicts 241 and 1020 for training samples of 12 and 57: what it adds and takes off is only right for
# scaled data. With scale true, two components for two columns and y exactly 10a + b, it still gives 13.3 and 55.9. The "explained
# variance" of two components is the last one's alone (0.107, less than one component's 0.893).
# Guess: an exact linear law found by as many components as columns, on either scale; explained variance that grows with components.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-pls@4.4.1

cat >try.mjs <<'JS'
import { PLS } from 'ml-pls';
const x = [[1, 2], [2, 1], [3, 5], [4, 3], [5, 7]];
const y = x.map(([a, b]) => [10 * a + b]);
for (const scale of [true, false]) {
  const pls = new PLS({ latentVectors: 2, scale });
  pls.train(x.map((row) => [...row]), y.map((row) => [...row]));
  console.log('scale', scale, pls.predict([[1, 2], [5, 7]]).to1DArray().map((value) => value.toFixed(1)).join(' '));
}
for (const latentVectors of [1, 2]) {
  const pls = new PLS({ latentVectors, scale: true });
  pls.train(x.map((row) => [...row]), y.map((row) => [...row]));
  console.log(latentVectors, 'components explain', pls.getExplainedVariance().toFixed(3));
}
JS

expected="$(cat <<'SEEN'
scale true 13.3 55.9
scale false 241.3 1020.3
1 components explain 0.893
2 components explain 0.107
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-pls@4.4.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
