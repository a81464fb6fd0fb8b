#!/usr/bin/env bash
# Once the median of the doses is known, the highest dose has the answer of the lowest one.
# just-percentile sorts the array that it is given, so values beside others of the same index lose their partners. Guess: the array
# stays as it was.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . just-percentile@4.2.0

cat >try.mjs <<'JS'
import percentile from 'just-percentile';
const doses = [100, 1, 10];
const alive = [3, 98, 51];
const show = () => console.log(doses.map((dose, index) => `${dose} nM: ${alive[index]} %`).join(', '));
show();
console.log('median', percentile(doses, 0.5));
show();
JS

expected="$(cat <<'SEEN'
100 nM: 3 %, 1 nM: 98 %, 10 nM: 51 %
median 10
1 nM: 3 %, 10 nM: 98 %, 100 nM: 51 %
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "just-percentile@4.2.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
