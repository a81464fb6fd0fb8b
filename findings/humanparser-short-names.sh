#!/usr/bin/env bash
# Jun Ma has no family name.
# A last word that is Ma, MD, V or I in any case is a degree or a number: Ma, a surname of millions, is taken for Master of Arts. Not even a
# comma, which says what the surname is, helps; a lone initial goes the same way. Guess: the family name Ma, at least with a comma.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . humanparser@2.7.0

cat >try.mjs <<'JS'
import parser from 'humanparser';
for (const name of ['Jun Ma', 'Ma, Jun', 'Li, V', 'Md, Ali', 'Ng, Anna', 'Smith, John, MA']) {
  const { firstName = '', lastName = '', suffix = '' } = parser.parseName(name);
  console.log(`${name}: given "${firstName}", family "${lastName}", suffix "${suffix}"`);
}
JS

expected="$(cat <<'SEEN'
Jun Ma: given "Jun", family "", suffix "Ma"
Ma, Jun: given "Jun", family "", suffix "Ma"
Li, V: given "Li", family "", suffix "V"
Md, Ali: given "Ali", family "", suffix "Md"
Ng, Anna: given "Anna", family "Ng", suffix ""
Smith, John, MA: given "John", family "Smith", suffix "MA"
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "humanparser@2.7.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
