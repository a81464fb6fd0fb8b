#!/usr/bin/env bash
# Readings that rise each second fall if their times are those of Date.
# d3-regression, Vega's and ml's linear regressions square the values as they are: with milliseconds since 1970, nearly all digits go, and the
# line falls or is too flat, with an R² below 0. Exponential growth has no values; d3's quadratic fit is right. Guess: the line since the start.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . d3-regression@2.2.0 ml-regression-simple-linear@3.0.1 vega-statistics@2.0.0

cat >try.mjs <<'JS'
import { regressionExp, regressionLinear, regressionQuad } from 'd3-regression';
import { SimpleLinearRegression } from 'ml-regression-simple-linear';
import { regressionLinear as vega } from 'vega-statistics';
const start = Date.UTC(2026, 0, 31, 10);
const [x, y] = [(point) => point[0], (point) => point[1]];
for (const [name, step] of [['second', 1000], ['10 minutes', 600_000]]) {
  for (const [since, zero] of [['the start', 0], ['1970', start]]) {
    const points = Array.from({ length: 60 }, (_, index) => [zero + index * step, 0.1 + 0.05 * index]);
    const { a, rSquared } = regressionLinear().x(x).y(y)(points);
    const slopes = [a, vega(points, x, y).coef[1], new SimpleLinearRegression(points.map(x), points.map(y)).slope];
    const quadratic = regressionQuad().x(x).y(y)(points);
    const growth = points.map(([time], index) => [time, 0.1 * 1.05 ** index]);
    const last = regressionExp().x(x).y(y)(growth).predict(growth[59][0]);
    const shown = [`0.05 is ${slopes.map((slope) => (slope * step).toFixed(4)).join(' ')}`, `R² ${rSquared.toFixed(3)}`, `3.05 is ${quadratic.predict(points[59][0]).toFixed(2)} by a quadratic fit`];
    console.log(`each ${name} since ${since}: ${shown.join(', ')}, growth to 1.78 is ${last.toFixed(2)}`);
  }
}
JS

expected="$(cat <<'SEEN'
each second since the start: 0.05 is 0.0500 0.0500 0.0500, R² 1.000, 3.05 is 3.05 by a quadratic fit, growth to 1.78 is 1.78
each second since 1970: 0.05 is -0.0025 -0.0025 -0.0245, R² -0.104, 3.05 is 3.05 by a quadratic fit, growth to 1.78 is NaN
each 10 minutes since the start: 0.05 is 0.0500 0.0500 0.0500, R² 1.000, 3.05 is 3.05 by a quadratic fit, growth to 1.78 is 1.78
each 10 minutes since 1970: 0.05 is 0.0500 0.0500 0.0500, R² 1.000, 3.05 is 3.05 by a quadratic fit, growth to 1.78 is NaN
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "d3-regression@2.2.0, ml-regression-simple-linear@3.0.1, vega-statistics@2.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
