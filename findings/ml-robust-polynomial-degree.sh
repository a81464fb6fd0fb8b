#!/usr/bin/env bash
# ml-regression-robust-polynomial 3.0.2 takes its "degree" as the number of terms: degree 1 is a constant, degree 2 a straight line. An
# exact parabola asked for with degree 2 comes out as a line through two of its points (another pair on each run).
# Guess: "polynomial degree" as in ml-regression-polynomial, where 2 has x squared.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-regression-robust-polynomial@3.0.2

cat >try.mjs <<'JS'
import { RobustPolynomialRegression } from 'ml-regression-robust-polynomial';
const x = Array.from({ length: 30 }, (_, index) => index);
for (const [law, degree, y] of [['2x + 1', 1, x.map((value) => 2 * value + 1)], ['x^2 + 2x + 1', 2, x.map((value) => value ** 2 + 2 * value + 1)]]) {
  for (const asked of [degree, degree + 1]) {
    const fit = new RobustPolynomialRegression(x, y, asked);
    console.log(law, 'asked degree', asked, 'powers', fit.powers.join(' '), 'right at 40:', Math.abs(fit.predict(40) - (law === '2x + 1' ? 81 : 1681)) < 1e-6);
  }
}
JS

expected="$(cat <<'SEEN'
2x + 1 asked degree 1 powers 0 right at 40: false
2x + 1 asked degree 2 powers 0 1 right at 40: true
x^2 + 2x + 1 asked degree 2 powers 0 1 right at 40: false
x^2 + 2x + 1 asked degree 3 powers 0 1 2 right at 40: true
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-regression-robust-polynomial@3.0.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
