#!/usr/bin/env bash
# Residues 52 and 52A of an antibody are one residue; a mercury atom is a hydrogen that is left out.
# From mmCIF, 3Dmol.js drops insertion codes and keeps both alternate places of an atom, without their letters. From PDB, it keeps the codes
# and the first place. There each element that begins with H is hydrogen, whatever the column of elements says, and goes unless keepH is
# set. Guess: the same atoms from both files.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . 3dmol@2.5.5

cat >try.mjs <<'JS'
const page = { createElement: () => ({ style: {}, getContext: () => null }), addEventListener() {}, getElementsByTagName: () => [], body: {} };
Object.assign(globalThis, { self: globalThis, window: globalThis, document: page });
globalThis.navigator ??= { userAgent: '' };
const { createRequire } = await import('node:module');
const { Parsers } = createRequire(import.meta.url)('3dmol');
const atoms = [
  ['ATOM', 1, 'C', 'CA', 'A', 'SER', 'H', 52, '', 2],
  ['ATOM', 2, 'C', 'CA', 'B', 'SER', 'H', 52, '', 2.1],
  ['ATOM', 3, 'C', 'CA', '', 'GLY', 'H', 52, 'A', 6],
  ['HETATM', 4, 'HG', 'HG', '', 'HG', 'H', 101, '', 10],
];
const names = 'group_PDB id type_symbol label_atom_id label_alt_id auth_comp_id auth_asym_id auth_seq_id pdbx_PDB_ins_code Cartn_x Cartn_y Cartn_z';
const tags = names.split(' ').map((name) => `_atom_site.${name}`);
const cif = `data_x\nloop_\n${tags.join('\n')}\n${atoms.map((atom) => [...atom, 0, 0].map((value) => (value === '' ? '.' : value)).join(' ')).join('\n')}\n`;
function line([group, id, element, name, place, residue, chain, number, code, x]) {
  const label = (element.length === 2 ? name : ` ${name}`).padEnd(4);
  const point = [x, 0, 0].map((value) => value.toFixed(3).padStart(8)).join('');
  const residueId = `${residue.padStart(3)} ${chain}${String(number).padStart(4)}${code.padEnd(1)}`;
  return `${group.padEnd(6)}${String(id).padStart(5)} ${label}${place.padEnd(1)}${residueId}   ${point}  1.00 10.00          ${element.padStart(2)}`;
}
const pdb = `${atoms.map(line).join('\n')}\nEND\n`;
const files = [['mmCIF', Parsers.CIF(cif, {})], ['PDB', Parsers.PDB(pdb, {})], ['PDB, keepH', Parsers.PDB(pdb, { keepH: true })]];
for (const [name, [found]] of files) {
  console.log(`${name}:`, found.map(({ elem, resi, icode }) => `${elem} ${resi}${(icode ?? '').trim()}`).join(', '));
}
JS

expected="$(cat <<'SEEN'
mmCIF: C 52, C 52, C 52, Hg 101
PDB: C 52, C 52A
PDB, keepH: C 52, C 52A, H 101
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "3dmol@2.5.5, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
