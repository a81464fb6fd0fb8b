#!/usr/bin/env bash
# In Slack a protocol has lost its sub-steps, and the allele A*02:01 is A02:01.
# mack turns Markdown into Slack's blocks. It drops lists inside lists, second paragraphs of a step and quotes inside quotes. An escaped
# asterisk goes with its backslash. A list that starts at 3, or goes on after code, starts at 1; a line break joins two words. Guess:
# indented sub-steps, and all characters.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @tryfabric/mack@1.2.1

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const { markdownToBlocks } = createRequire(import.meta.url)('@tryfabric/mack');
const texts = ['1. Lyse\n   - on ice\n   - 10 min\n2. Spin', '- Spin\n\n  Keep the pellet.\n- Wash', 'HLA-A\\*02:01', '3. Elute\n4. Store', '1. Run\n\n```\nx\n```\n\n2. Stop', '5 mg\\\n2 ml', '> Day 1\n> > Day 2'];
for (const text of texts) {
  const blocks = await markdownToBlocks(text);
  console.log(JSON.stringify(text), '=>', JSON.stringify(blocks.map((block) => block.text.text)));
}
JS

expected="$(cat <<'SEEN'
"1. Lyse\n   - on ice\n   - 10 min\n2. Spin" => ["1. Lyse\n2. Spin"]
"- Spin\n\n  Keep the pellet.\n- Wash" => ["• Spin\n• Wash"]
"HLA-A\\*02:01" => ["HLA-A02:01"]
"3. Elute\n4. Store" => ["1. Elute\n2. Store"]
"1. Run\n\n```\nx\n```\n\n2. Stop" => ["1. Run","```\nx\n```","1. Stop"]
"5 mg\\\n2 ml" => ["5 mg2 ml"]
"> Day 1\n> > Day 2" => ["Day 1"]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@tryfabric/mack@1.2.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
