#!/usr/bin/env bash
# A potentiostat in Europe has measured nothing, on an electrode of 0 cm²; each other one has measured once more, at 0 s.
# EC-Lab writes numbers as the computer does. biologic-converter reads 2,5 as NaN and an area of 0,001 as 0. The end of the last line
# makes one more reading, and of a comment only the first line stays. Guess: 2.5, 0.001, two readings, the whole comment.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . biologic-converter@0.6.0

cat >try.mjs <<'JS'
import biologic from 'biologic-converter';
function show(name, area, rows, end) {
  const head = ['EC-Lab ASCII FILE', 'Nb header lines : 9', '', 'Chronoamperometry / Chronocoulometry', ''];
  const about = [`Electrode surface area : ${area} cm²`, 'Comments : blank', ' after washing', 'time/s\tEwe/V'];
  const { data, settings } = biologic.parseMPT(Buffer.from([...head, ...about, ...rows].join('\r\n') + end, 'latin1'));
  const columns = Object.values(data.variables).map(({ label, units, data: values }) => `${label} in ${units}: ${values.join(', ')}`);
  const { comments, electrodeSurfaceArea } = settings.variables;
  console.log(`${name}: ${columns.join('; ')}; area ${electrodeSurfaceArea.value}; "${comments}"`);
}
show('points        ', '0.001', ['1.0\t2.5', '2.0\t2.6'], '');
show('and a line end', '0.001', ['1.0\t2.5', '2.0\t2.6'], '\r\n');
show('commas        ', '0,001', ['1,0\t2,5', '2,0\t2,6'], '');
JS

expected="$(cat <<'SEEN'
points        : time in s: 1, 2; Ewe in V: 2.5, 2.6; area 0.001; "blank"
and a line end: time in s: 1, 2, 0; Ewe in V: 2.5, 2.6, NaN; area 0.001; "blank"
commas        : time in s: NaN, NaN; Ewe in V: NaN, NaN; area 0; "blank"
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "biologic-converter@0.6.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
