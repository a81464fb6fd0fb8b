#!/usr/bin/env bash
# A house that stands on a road is up to 236 m away from it.
# getDistanceFromLine of geolib computes the angles of a triangle from its rounded sides: where it is flat, the cosine of an angle is that of a
# larger one. Points on the line itself are far from it; those at some distance are right. Guess: 0 for a point on the line, 1 for one at 1 m.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . geolib@3.3.14

cat >try.mjs <<'JS'
import { getDistanceFromLine } from 'geolib';
const place = (latitude, longitude) => ({ latitude, longitude });
// A degree is 111,319 m on the equator, along which the roads run.
const metre = 1 / 111_319;
for (const length of [1, 0.1, 0.01]) {
  const road = [place(0, 0), place(0, length)];
  const seen = [0, 1, 10, 100, 1000].map((away) => `${away} m ${getDistanceFromLine(place(away * metre, length / 2), ...road).toFixed(0)}`);
  console.log(`road of ${(length * 111.319).toFixed(1)} km: ${seen.join(', ')}`);
}
const fine = getDistanceFromLine(place(0, 0.5), place(0, 0), place(0, 1), 0.01);
console.log('on the longest road, to the centimetre:', fine.toFixed(0));
JS

expected="$(cat <<'SEEN'
road of 111.3 km: 0 m 236, 1 m 236, 10 m 236, 100 m 236, 1000 m 1028
road of 11.1 km: 0 m 0, 1 m 0, 10 m 0, 100 m 106, 1000 m 999
road of 1.1 km: 0 m 24, 1 m 24, 10 m 24, 100 m 103, 1000 m 1000
on the longest road, to the centimetre: 24
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "geolib@3.3.14, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
