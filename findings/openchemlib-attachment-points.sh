#!/usr/bin/env bash
# The formula of a fragment with an attachment point has no hydrogen at all.
# One `*` in a SMILES, as in a fragment or a residue, and the implicit hydrogens of every other atom are missing from formula and
# weight, without a warning. Guess: the hydrogens of the other atoms are counted.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . openchemlib@9.25.0

cat >try.mjs <<'JS'
import OCL from 'openchemlib';
for (const smiles of ['CCO', '*CCO']) {
  const { formula, relativeWeight } = OCL.Molecule.fromSmiles(smiles).getMolecularFormula();
  console.log(smiles, formula, relativeWeight.toFixed(2));
}
JS

expected="$(cat <<'SEEN'
CCO C2H6O 46.07
*CCO C3O 52.03
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "openchemlib@9.25.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
