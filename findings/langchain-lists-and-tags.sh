#!/usr/bin/env bash
# "5 mg daily, not 50 mg" is "5 mg" and "not", and each step of a protocol is its first line.
# XMLOutputParser keeps the tags inside an element and drops the words around them, attributes, and CDATA. NumberedListOutputParser and
# MarkdownListOutputParser drop what goes on in the next line. Nothing is said. Guess: the words, the unit, and whole steps.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @langchain/core@1.4.0

cat >try.mjs <<'JS'
import { MarkdownListOutputParser, NumberedListOutputParser, XMLOutputParser } from '@langchain/core/output_parsers';
const xml = new XMLOutputParser();
const answers = ['<dose>Give <b>5 mg</b> daily, <i>not</i> 50 mg.</dose>', '<r><dose unit="mg">5</dose></r>', '<r><![CDATA[p < 0.05]]></r>'];
for (const answer of answers) console.log(answer, JSON.stringify(await xml.parse(answer)));
const steps = '1. Thaw at 37 °C.\n   Do not vortex.\n2. Add 2 ml.';
console.log(JSON.stringify(await new NumberedListOutputParser().parse(steps)));
console.log(JSON.stringify(await new MarkdownListOutputParser().parse(steps.replaceAll(/^\d\./gm, '-'))));
JS

expected="$(cat <<'SEEN'
<dose>Give <b>5 mg</b> daily, <i>not</i> 50 mg.</dose> {"dose":[{"b":"5 mg"},{"i":"not"}]}
<r><dose unit="mg">5</dose></r> {"r":[{"dose":"5"}]}
<r><![CDATA[p < 0.05]]></r> {"r":""}
["Thaw at 37 °C.","Add 2 ml."]
["Thaw at 37 °C.","Add 2 ml."]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@langchain/core@1.4.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
