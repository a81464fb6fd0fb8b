#!/usr/bin/env bash
# Ebselen has no selenium, and heavy water is water.
# The formula that smiles-drawer makes of a structure leaves out every aromatic selenium, all charges and all isotopes. With the same bonds
# written as single and double ones, the selenium is there. Guess: C13H9NOSe either way, D2O, and a plus for an ion.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . smiles-drawer@2.4.1

cat >try.mjs <<'JS'
globalThis.window = {};
const { default: smiles } = await import('smiles-drawer');
function formula(text) {
  const { preprocessor } = new smiles.Drawer({}).svgDrawer;
  preprocessor.initDraw(smiles.Parser.parse(text), 'light', false, []);
  return preprocessor.getMolecularFormula();
}
const structures = {
  'ebselen, Kekulé': 'O=C1C2=CC=CC=C2[Se]N1C3=CC=CC=C3',
  'ebselen, aromatic': 'O=c1c2ccccc2[se]n1-c1ccccc1',
  thiophene: 'c1ccsc1',
  selenophene: 'c1cc[se]c1',
  water: 'O',
  'heavy water': '[2H]O[2H]',
  'ammonium ion': '[NH4+]',
};
for (const [name, text] of Object.entries(structures)) console.log(`${name}: ${formula(text)}`);
JS

expected="$(cat <<'SEEN'
ebselen, Kekulé: C13H9NOSe
ebselen, aromatic: C13H9NO
thiophene: C4H4S
selenophene: C4H4
water: H2O
heavy water: H2O
ammonium ion: H4N
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "smiles-drawer@2.4.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
