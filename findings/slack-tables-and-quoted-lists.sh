#!/usr/bin/env bash
# A table of doses is an empty message; a list in a quote is gone, and step 3 is step 1.
# html-to-mrkdwn drops each table with its text. markdown-to-slack-blocks keeps only the paragraphs of a quote, and gives a list no offset,
# so that Slack counts from 1. Guess: the cells as text, the quoted steps, and an offset of 2.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . html-to-mrkdwn@3.0.0 markdown-to-slack-blocks@1.5.0

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
const htmlToMrkdwn = require('html-to-mrkdwn');
const { markdownToBlocks } = require('markdown-to-slack-blocks');
const table = '<p>Doses:</p><table><tr><th>drug</th><th>mg</th></tr><tr><td>A</td><td>5</td></tr></table><p>Daily.</p>';
console.log(JSON.stringify(htmlToMrkdwn(table).text));
const words = (block) => (typeof block === 'object' ? Object.values(block).flatMap(words) : []).concat(block?.type === 'text' ? block.text : []);
for (const text of ['> Do this:\n>\n> - lyse\n> - spin', '3. elute\n4. store']) {
  const [block] = markdownToBlocks(text);
  console.log(JSON.stringify(text), words(block).join(', '), 'offset', block.elements[0].offset);
}
JS

expected="$(cat <<'SEEN'
"Doses:\n\nDaily."
"> Do this:\n>\n> - lyse\n> - spin" Do this: offset undefined
"3. elute\n4. store" elute, store offset undefined
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "html-to-mrkdwn@3.0.0, markdown-to-slack-blocks@1.5.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
