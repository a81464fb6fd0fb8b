#!/usr/bin/env bash
# An IC50 of ">100" is no value of an SD file.
# An empty line ends a data item, so a value may begin with any character. sdf-parser takes a line that begins with > for the next item.
# The value is gone, and some of its characters name a column. Guess: the text >100, beside <100.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . sdf-parser@9.0.0

cat >try.mjs <<'JS'
import { parse } from 'sdf-parser';
const atoms = '\n  by hand\n\n  1  0  0  0  0  0            999 V2000\n    0.0000    0.0000    0.0000 C   0  0\nM  END\n';
const record = (value) => `${atoms}> <ID>\nA1\n\n> <IC50_uM>\n${value}\n\n$$$$\n`;
for (const value of ['100', '<100', '>100', '> 5 uM']) {
  const { molecules, labels } = parse(record(value));
  const { molfile, ...items } = molecules[0];
  console.log(value, JSON.stringify(items), 'columns', JSON.stringify(labels));
}
JS

expected="$(cat <<'SEEN'
100 {"ID":"A1","IC50_uM":100} columns ["ID","IC50_uM"]
<100 {"ID":"A1","IC50_uM":"<100"} columns ["ID","IC50_uM"]
>100 {"ID":"A1"} columns ["10","ID","IC50_uM"]
> 5 uM {"ID":"A1"} columns ["ID","IC50_uM"," 5 u"]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "sdf-parser@9.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
