#!/usr/bin/env bash
# Hydrates weigh too much, and reagents become elements.
# A dot before a number multiplies what stands before it: glucose dihydrate as chemists write it, C6H12O6·2H2O, gets twelve oxygen
# atoms and then one water more. TsOH (toluenesulfonic acid) reads as tennessine without a mass, THF as tritium and fluorine.
# Guess: 216.19, and groups that it does not know are an error.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . mf-parser@3.9.3

cat >try.mjs <<'JS'
import { MF } from 'mf-parser';
for (const formula of ['C6H12O6·2H2O', 'C6H12O6 . 2 H2O', 'TsOH', 'THF', 'AcOH']) {
  const { mf, mass } = new MF(formula).getInfo();
  console.log(formula, mf, mass.toFixed(2));
}
JS

expected="$(cat <<'SEEN'
C6H12O6·2H2O C6H14O13 294.17
C6H12O6 . 2 H2O C6H12O6.H4O2 216.19
TsOH HOTs 17.01
THF H[3H]F 23.02
AcOH HAcO 17.01
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "mf-parser@3.9.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
