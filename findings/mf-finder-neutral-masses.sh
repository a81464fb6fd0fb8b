#!/usr/bin/env bash
# No formula has the mass of glucose.
# mf-finder finds formulas for the masses of ions. Neutral ones have to be allowed, although its types and comments have that as the default.
# Guess: C6H12O6, as it says to "find a molecular formula from a monoisotopic mass".
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . mf-finder@3.4.22

cat >try.mjs <<'JS'
import { findMFs } from 'mf-finder';
const glucose = 180.06339;
const searches = [[glucose, {}], [glucose, { ionizations: '' }], [glucose, { allowNeutral: true }], [181.07066, { ionizations: 'H+' }]];
for (const [mass, options] of searches) {
  const { mfs } = await findMFs(mass, { ranges: 'C0-10 H0-20 O0-10', precision: 10, ...options });
  console.log(mass, JSON.stringify(options), '->', mfs.map(({ mf }) => mf).join(' ') || 'none');
}
JS

expected="$(cat <<'SEEN'
180.06339 {} -> none
180.06339 {"ionizations":""} -> none
180.06339 {"allowNeutral":true} -> C6H12O6
181.07066 {"ionizations":"H+"} -> C6H12O6
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "mf-finder@3.4.22, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
