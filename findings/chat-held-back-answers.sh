#!/usr/bin/env bash
# An answer in Slack stops growing at a half-open interval, or at the footnote of a table.
# The Chat SDK streams only the text before what could still become Markdown. The bracket of a half-open interval, a footnote like
# "*p < 0.05" or the name "_p" hold back all that comes after them until the answer is finished. Guess: at most their line.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . chat@4.41.1

cat >try.mjs <<'JS'
import { StreamingMarkdownRenderer } from 'chat';
for (const line of ['Doses of 0 to 1 mg.', 'Doses in [0, 1) mg.', '*p < 0.05, n = 3', 'Table 1, _p values below']) {
  const reply = new StreamingMarkdownRenderer();
  reply.push(`${line}\n\nA second paragraph.\n\nA third one.\n`);
  console.log(line, '=>', JSON.stringify(reply.getCommittableText()));
}
JS

expected="$(cat <<'SEEN'
Doses of 0 to 1 mg. => "Doses of 0 to 1 mg.\n\nA second paragraph.\n\nA third one.\n"
Doses in [0, 1) mg. => "Doses in "
*p < 0.05, n = 3 => ""
Table 1, _p values below => ""
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "chat@4.41.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
