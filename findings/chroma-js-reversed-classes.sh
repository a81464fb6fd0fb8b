#!/usr/bin/env bash
# A colour scale that is turned round turns back when it is cut into classes.
# In chroma-js, a domain from the highest to the lowest value reverses the colours, until classes are asked for: then p = 0 is as pale as p = 1
# was. Classes that are given as limits from high to low do the same. Guess: the same colours, in steps.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . chroma-js@3.2.0

cat >try.mjs <<'JS'
import chroma from 'chroma-js';
const values = [0, 0.3, 0.6, 1];
const show = (title, scale) => console.log(`${title}: ${values.map((value) => `${value} ${scale(value).hex()}`).join(', ')}`);
const scale = (domain) => chroma.scale(['white', 'red']).domain(domain);
show('from 0 to 1', scale([0, 1]));
show('from 0 to 1 in classes', scale([0, 1]).classes(4));
show('from 1 to 0', scale([1, 0]));
show('from 1 to 0 in classes', scale([1, 0]).classes(4));
JS

expected="$(cat <<'SEEN'
from 0 to 1: 0 #ffffff, 0.3 #ffb3b3, 0.6 #ff6666, 1 #ff0000
from 0 to 1 in classes: 0 #ffffff, 0.3 #ffaaaa, 0.6 #ff5555, 1 #ff0000
from 1 to 0: 0 #ff0000, 0.3 #ff4d4d, 0.6 #ff9999, 1 #ffffff
from 1 to 0 in classes: 0 #ffffff, 0.3 #ffaaaa, 0.6 #ff5555, 1 #ff0000
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "chroma-js@3.2.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
