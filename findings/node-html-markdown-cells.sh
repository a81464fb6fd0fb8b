#!/usr/bin/env bash
# Doses of 1 and 2 mg in one cell are 12 mg.
# A cell of a Markdown table is one line. node-html-markdown removes the breaks, paragraphs and lists of an HTML cell without a space in
# their place. Lists that go on at 5 begin at 1. Guess: a space or <br> between the lines, and the start of the list.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . node-html-markdown@2.0.0

cat >try.mjs <<'JS'
import { NodeHtmlMarkdown } from 'node-html-markdown';
const cells = ['1 or 2 mg', '1<br>2 mg', '<p>1</p><p>2 mg</p>', '<ul><li>1</li><li>2 mg</li></ul>'];
for (const cell of cells) {
  const table = NodeHtmlMarkdown.translate(`<table><tr><th>dose</th></tr><tr><td>${cell}</td></tr></table>`);
  console.log(cell, '->', table.split('\n').at(-1));
}
console.log(NodeHtmlMarkdown.translate('<ol start="5"><li>Spin</li><li>Wash</li></ol>').trim());
JS

expected="$(cat <<'SEEN'
1 or 2 mg -> | 1 or 2 mg |
1<br>2 mg -> | 12 mg |
<p>1</p><p>2 mg</p> -> | 12 mg |
<ul><li>1</li><li>2 mg</li></ul> -> | 12 mg |
1. Spin
2. Wash
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "node-html-markdown@2.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
