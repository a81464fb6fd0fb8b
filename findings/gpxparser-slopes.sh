#!/usr/bin/env bash
# gpxparser 3.0.8 divides the climb of each stretch by the length of the next: 100 m of climb in 1113 m (9 %) after which the path goes on
# level for 2226 m is a slope of 4.5, and the last stretch is always Infinity or -Infinity. The lowest point of a track that starts at sea
# level is null (the 0 is taken for nothing).
# Guess: slopes 9.0, 0 and -4.5, lowest 0.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . gpxparser@3.0.8

cat >try.mjs <<'JS'
import GpxParser from 'gpxparser';
const points = [[0, 0], [0.01, 100], [0.03, 100], [0.04, 50]];
const gpx = new GpxParser();
gpx.parse(`<gpx xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>${points.map(([lon, ele]) => `<trkpt lat="0" lon="${lon}"><ele>${ele}</ele></trkpt>`).join('')}</trkseg></trk></gpx>`);
const [track] = gpx.tracks;
console.log('distances', track.distance.cumul.map(Math.round).join(' '));
console.log('slopes', track.slopes.map((slope) => slope.toFixed(1)).join(' '));
console.log('lowest', track.elevation.min, 'highest', track.elevation.max, 'up', track.elevation.pos, 'down', track.elevation.neg);
process.exit();
JS

expected="$(cat <<'SEEN'
distances 1112 3336 4448 4448
slopes 4.5 0.0 -Infinity
lowest null highest 100 up 100 down 50
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "gpxparser@3.0.8, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
