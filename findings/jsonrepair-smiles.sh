#!/usr/bin/env bash
# A repaired answer has lost on which side of a double bond each atom is.
# Models write SMILES into JSON with a single backslash, which JSON does not allow before most letters. jsonrepair drops the backslash and
# says nothing, so that both isomers become one; where \b, \f, \n, \r or \t happens to follow, JSON takes it for a control character.
# Guess: the backslash is doubled.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . jsonrepair@3.15.0

cat >try.mjs <<'JS'
import { jsonrepair } from 'jsonrepair';
for (const smiles of ['F/C=C\\F', 'F/C=C/F', 'C/C=C\\c1ccccc1', 'C/C=C\\[N+](=O)[O-]']) {
  const answer = `{"smiles": "${smiles}"}`;
  console.log(answer, '->', JSON.parse(jsonrepair(answer)).smiles);
}
JS

expected="$(cat <<'SEEN'
{"smiles": "F/C=C\F"} -> F/C=CF
{"smiles": "F/C=C/F"} -> F/C=C/F
{"smiles": "C/C=C\c1ccccc1"} -> C/C=Cc1ccccc1
{"smiles": "C/C=C\[N+](=O)[O-]"} -> C/C=C[N+](=O)[O-]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "jsonrepair@3.15.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
