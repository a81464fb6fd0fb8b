#!/usr/bin/env bash
# An article of 31 January 2026 is from the year 31.
# EndNote exports the year as %D and the day as %8, often as words without the year. The plugin lets %8 replace the year and takes the day
# for it. A group, which EndNote ends with a comma, becomes a person. Guess: 31 January 2026, and a group.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @citation-js/core@0.7.21 @citation-js/plugin-enw@0.3.0

cat >try.mjs <<'JS'
import { Cite } from '@citation-js/core';
import '@citation-js/plugin-enw';
const read = (...lines) => new Cite(['%0 Journal Article', '%T Growth at 37 degrees', ...lines, ''].join('\n')).data[0];
for (const day of ['2026/01/31', 'January 31', 'Mar 5', 'May'])
  console.log(`%D 2026, %8 ${day}:`, JSON.stringify(read('%D 2026', `%8 ${day}`).issued));
console.log(JSON.stringify(read('%A Doe, Jane', '%A ENCODE Project Consortium,').author));
JS

expected="$(cat <<'SEEN'
%D 2026, %8 2026/01/31: {"date-parts":[[2026,1,31]]}
%D 2026, %8 January 31: {"date-parts":[[31,1]]}
%D 2026, %8 Mar 5: {"date-parts":[[5,3]]}
%D 2026, %8 May: {"raw":"May"}
[{"given":"Jane","family":"Doe"},{"given":"ENCODE Project","family":"Consortium,"}]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@citation-js/core@0.7.21, @citation-js/plugin-enw@0.3.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
