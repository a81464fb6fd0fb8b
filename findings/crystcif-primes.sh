#!/usr/bin/env bash
# A compound's name ends at its first prime.
# In CIF a quotation mark ends a value only before white space, so that 'adenosine 5'-phosphate' is one. crystcif-parse ends it at the
# first mark and drops the rest, without an error. Guess: the whole name.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . crystcif-parse@0.2.9

cat >try.mjs <<'JS'
import { parseCif } from 'crystcif-parse';
const { d } = parseCif("data_d\n_chem_comp.name 'adenosine 5'-phosphate'\n_cell_length_a 10.123(4)\n_exptl.number 00123\n");
for (const { tag, value } of Object.values(d)) console.log(tag, value.text ?? value.num);
JS

expected="$(cat <<'SEEN'
_chem_comp.name adenosine 5
_cell_length_a 10.123
_exptl.number 123
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "crystcif-parse@0.2.9, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
