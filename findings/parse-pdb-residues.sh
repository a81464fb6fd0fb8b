#!/usr/bin/env bash
# Ligands are missing, and all residues of a line have the atoms of one.
# HETATM records are skipped: no zinc, no selenomethionine of the chain. A residue gets the atoms whose number is that of its SEQRES line.
# Guess: each residue with its own atoms, and the ligands.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . parse-pdb@1.0.0

cat >try.mjs <<'JS'
import parsePdb from 'parse-pdb';
const start = (kind, serial, name, residue, number) =>
  `${kind.padEnd(6)}${String(serial).padStart(5)} ${name.padEnd(4)} ${residue.padStart(3)} A${String(number).padStart(4)}`;
const atom = (kind, serial, name, residue, number, x) =>
  `${start(kind, serial, name, residue, number)}    ${x.toFixed(3).padStart(8)}   0.000   0.000  1.00 20.00`.padEnd(76) +
  (name === 'ZN' ? 'ZN' : ' C');
const lines = ['SEQRES   1 A    4  ALA GLY SER MSE', atom('ATOM', 1, ' CA', 'ALA', 1, 1), atom('ATOM', 2, ' CA', 'GLY', 2, 2)];
lines.push(atom('ATOM', 3, ' CA', 'SER', 3, 3), atom('HETATM', 4, ' CA', 'MSE', 4, 4), start('TER', 5, '', 'MSE', 4));
lines.push(atom('HETATM', 6, 'ZN', 'ZN', 101, 9), 'END');
const { atoms, residues } = parsePdb(lines.map((line) => `${line.padEnd(80)}\n`).join(''));
console.log(atoms.map(({ resName, x }) => `${resName} at ${x}`).join(', '));
for (const { resName, atoms: own } of residues) console.log(resName, own.map((one) => `${one.resName} at ${one.x}`).join(', '));
JS

expected="$(cat <<'SEEN'
ALA at 1, GLY at 2, SER at 3
ALA ALA at 1
GLY ALA at 1
SER ALA at 1
MSE ALA at 1
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "parse-pdb@1.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
