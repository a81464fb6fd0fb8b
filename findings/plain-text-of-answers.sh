#!/usr/bin/env bash
# Alanine loses its amino group, and "p <0.05 and q >0.1" is "p 0.1".
# What takes the marks out of an answer for a notice or a title also takes brackets of SMILES for links, and two inequalities for a tag.
# remove-markdown takes two tildes for a strike-through; striptags drops all after a lone <. Guess: chemistry, inequalities and estimates
# survive.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . remark@15.0.1 remove-markdown@0.7.0 strip-markdown@6.0.0 striptags@3.2.0

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
import { remark } from 'remark';
import stripMarkdown from 'strip-markdown';
const require = createRequire(import.meta.url);
const ways = {
  'remove-markdown': require('remove-markdown'),
  'strip-markdown': (text) => String(remark().use(stripMarkdown).processSync(text)).trim(),
  striptags: require('striptags'),
};
for (const text of ['C[C@H](N)C(=O)O', 'p <0.05 and q >0.1', 'from ~5 mg to ~10 mg', 'found in n<10 of 50 mice']) {
  console.log(`${text}:`, Object.entries(ways).map(([name, strip]) => `${name} "${strip(text)}"`).join(', '));
}
JS

expected="$(cat <<'SEEN'
C[C@H](N)C(=O)O: remove-markdown "CC@HC(=O)O", strip-markdown "CC@HC(=O)O", striptags "C[C@H](N)C(=O)O"
p <0.05 and q >0.1: remove-markdown "p 0.1", strip-markdown "p <0.05 and q >0.1", striptags "p 0.1"
from ~5 mg to ~10 mg: remove-markdown "from 5 mg to 10 mg", strip-markdown "from ~5 mg to ~10 mg", striptags "from ~5 mg to ~10 mg"
found in n<10 of 50 mice: remove-markdown "found in n<10 of 50 mice", strip-markdown "found in n<10 of 50 mice", striptags "found in n"
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "remark@15.0.1, remove-markdown@0.7.0, strip-markdown@6.0.0, striptags@3.2.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
