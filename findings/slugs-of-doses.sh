#!/usr/bin/env bash
# The results for 5 µM get the name of those for 5 M or 5 mM.
# Unicode has two signs for micro: U+00B5, of keyboards, and U+03BC, the Greek letter. slugify leaves out the first and writes m for the
# second; the others do likewise. 10⁵ cells are 10 cells, and p<0.05 and p>0.05 are one file. Guess: u, 10-5, and two names.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @sindresorhus/slugify@3.0.1 limax@4.2.3 slugify@1.6.9

cat >try.mjs <<'JS'
import sindresorhus from '@sindresorhus/slugify';
import limax from 'limax';
import slugify from 'slugify';
for (const name of ['5 \u00b5M', '5 \u03bcM', '5 mM', '5 M', '10⁵ cells', 'p<0.05', 'p>0.05', 'CD4+', 'CD4-'])
  console.log(`${name}: slugify ${slugify(name)}, limax ${limax(name)}, @sindresorhus/slugify ${sindresorhus(name)}`);
JS

expected="$(cat <<'SEEN'
5 µM: slugify 5-M, limax 5-mm, @sindresorhus/slugify 5-m
5 μM: slugify 5-mM, limax 5-mm, @sindresorhus/slugify 5-m-m
5 mM: slugify 5-mM, limax 5-mm, @sindresorhus/slugify 5-m-m
5 M: slugify 5-M, limax 5-m, @sindresorhus/slugify 5-m
10⁵ cells: slugify 10-cells, limax 105-cells, @sindresorhus/slugify 10-cells
p<0.05: slugify pless0.05, limax p-less-than-0-05, @sindresorhus/slugify p-0-05
p>0.05: slugify pgreater0.05, limax p-greater-than-0-05, @sindresorhus/slugify p-0-05
CD4+: slugify CD4+, limax cd4, @sindresorhus/slugify cd-4
CD4-: slugify CD4, limax cd4, @sindresorhus/slugify cd-4
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@sindresorhus/slugify@3.0.1, limax@4.2.3, slugify@1.6.9, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
