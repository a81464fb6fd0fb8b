#!/usr/bin/env bash
# The variant chr2:100:A:T is chr2💯A:T, and a ratio of 1:1234:2 is 1🔢2.
# node-emoji, markdown-it-emoji and remark-emoji take a number or a letter between two colons for the name of an emoji, also between
# digits and letters. a, b and m have emoji, too. Guess: only names that stand by themselves.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . node-emoji@2.2.0 markdown-it@15.0.3 markdown-it-emoji@3.1.0 remark@15.0.1 remark-emoji@5.0.2

cat >try.mjs <<'JS'
import MarkdownIt from 'markdown-it';
import { full } from 'markdown-it-emoji';
import { emojify } from 'node-emoji';
import { remark } from 'remark';
import remarkEmoji from 'remark-emoji';
for (const text of ['chr2:100:A:T', '1:1234:2', 'chr2:105:a:t', 'chr2:105:A:T']) {
  console.log(text, '=>', emojify(text), '|', new MarkdownIt().use(full).renderInline(text), '|', String(await remark().use(remarkEmoji).process(text)).trim());
}
JS

expected="$(cat <<'SEEN'
chr2:100:A:T => chr2💯A:T | chr2💯A:T | chr2💯A:T
1:1234:2 => 1🔢2 | 1🔢2 | 1🔢2
chr2:105:a:t => chr2:105:a:t | chr2:105🅰️t | chr2:105🅰️t
chr2:105:A:T => chr2:105:A:T | chr2:105:A:T | chr2:105:A:T
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "node-emoji@2.2.0, markdown-it@15.0.3, markdown-it-emoji@3.1.0, remark@15.0.1, remark-emoji@5.0.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
