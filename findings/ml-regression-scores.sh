#!/usr/bin/env bash
# A standard curve that is 100 off has an R² of 1 for new samples, and so has one that runs the other way.
# score of ml-regression-base, which all regressions of ml share, squares the correlation of what was seen with what was predicted. That knows
# neither an offset nor a factor nor a sign; only its rmsd does. Guess: 1 less the share of the variance that is left, which may be below 0.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-regression-simple-linear@3.0.1

cat >try.mjs <<'JS'
import { SimpleLinearRegression } from 'ml-regression-simple-linear';
const doses = [1, 2, 3, 4];
const curve = new SimpleLinearRegression(doses, [2, 4, 6, 8]);
const samples = { 'as the curve': [2, 4, 6, 8], 'twice as high': [4, 8, 12, 16], '100 higher': [102, 104, 106, 108], 'the other way': [8, 6, 4, 2] };
for (const [name, seen] of Object.entries(samples)) {
  const { r2, rmsd } = curve.score(doses, seen);
  const mean = seen.reduce((sum, value) => sum + value) / 4;
  const left = seen.reduce((sum, value, index) => sum + (value - curve.predict(doses[index])) ** 2, 0);
  const total = seen.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  console.log(`${name}: r2 ${r2.toFixed(2)}, rmsd ${rmsd.toFixed(1)}, share explained ${(1 - left / total).toFixed(2)}`);
}
JS

expected="$(cat <<'SEEN'
as the curve: r2 1.00, rmsd 0.0, share explained 1.00
twice as high: r2 1.00, rmsd 5.5, share explained -0.50
100 higher: r2 1.00, rmsd 100.0, share explained -1999.00
the other way: r2 1.00, rmsd 4.5, share explained -3.00
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-regression-simple-linear@3.0.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
