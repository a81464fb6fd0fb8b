#!/usr/bin/env bash
# TNF-α, written with a character reference as registries do, is TNF-&#945;.
# By default fast-xml-parser resolves &lt; but no numbers such as &#945; or &#x3bc;, which all XML has. It joins the words around tags
# without a blank and apart from the tags. An id of 007 is 7, and 0x1F is 31. Guess: α and µ, each word at its place, and ids as text.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . fast-xml-parser@5.12.1

cat >try.mjs <<'JS'
import { XMLParser } from 'fast-xml-parser';
const shown = (xml, options = {}) => JSON.stringify(new XMLParser(options).parse(xml));
console.log(shown('<name>TNF-&#945; &lt; 5 &#x3bc;M</name>'));
console.log('htmlEntities:', shown('<name>TNF-&#945; &lt; 5 &#x3bc;M</name>', { htmlEntities: true }));
console.log(shown('<title>No effect of <i>Foxp3</i> on <b>CD4</b> cells</title>'));
console.log(shown('<r><id>007</id><id>1E5</id><id>0x1F</id><id>7-1</id></r>'));
JS

expected="$(cat <<'SEEN'
{"name":"TNF-&#945; < 5 &#x3bc;M"}
htmlEntities: {"name":"TNF-α < 5 μM"}
{"title":{"i":"Foxp3","b":"CD4","#text":"No effect ofoncells"}}
{"r":{"id":[7,100000,31,"7-1"]}}
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "fast-xml-parser@5.12.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
