#!/usr/bin/env bash
# A kb of DNA is a kilobarn or a kilobit, and nobody knows a dalton.
# UCUM reads kb as kilobarn and AU as the astronomic unit; math.js reads kb as kilobits and C as coulomb. Neither knows µM, Da or rpm.
# Guess: unknown, or the field's meaning.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @lhncbc/ucum-lhc@7.1.10 mathjs@15.2.0

cat >try.mjs <<'JS'
import ucum from '@lhncbc/ucum-lhc';
import { unit } from 'mathjs';
const { UcumLhcUtils } = ucum;
const ofUcum = (code) => UcumLhcUtils.getInstance().validateUnitString(code).unit?.name ?? 'unknown';
function ofMath(code) {
  try {
    return unit(`1 ${code}`).toSI().toString();
  } catch {
    return 'unknown';
  }
}
for (const code of ['kb', 'AU', 'C', 'uM', 'kDa', 'rpm', 'U', 'IU']) console.log(`${code}: UCUM ${ofUcum(code)}; math.js ${ofMath(code)}`);
JS

expected="$(cat <<'SEEN'
kb: UCUM kilobarn; math.js 1000 bits
AU: UCUM astronomic unit; math.js unknown
C: UCUM coulomb; math.js 1 s A
uM: UCUM unknown; math.js unknown
kDa: UCUM unknown; math.js unknown
rpm: UCUM unknown; math.js unknown
U: UCUM enzyme unit; math.js unknown
IU: UCUM international unit - arbitrary; math.js unknown
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@lhncbc/ucum-lhc@7.1.10, mathjs@15.2.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
