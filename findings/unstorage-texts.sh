#!/usr/bin/env bash
# The gene 2310009E13 that is stored is the number 23100090000000000000 when it is read.
# unstorage reads each text that it has stored as JSON if it can: version 1.10 becomes 1.1, the sample "true" a boolean, and "undefined" is
# nothing. A key loses what follows a question mark, so plates 1 and 2 of "plate?1" are one. Guess: the text that was stored.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . unstorage@1.17.6

cat >try.mjs <<'JS'
import { createStorage } from 'unstorage';
const storage = createStorage();
for (const text of ['2310009E13', '1.10', 'true', 'NaN', ' 5 ', '"quoted"', '007']) {
  await storage.setItem('sample', text);
  const read = await storage.getItem('sample');
  console.log(text, '=>', typeof read, read);
}
await storage.clear();
for (const key of ['plate?1', 'plate?2']) await storage.setItem(key, key);
console.log(await storage.getKeys(), await storage.getItem('plate?1'));
JS

expected="$(cat <<'SEEN'
2310009E13 => number 23100090000000000000
1.10 => number 1.1
true => boolean true
NaN => number NaN
 5  => number 5
"quoted" => string quoted
007 => string 007
[ 'plate' ] plate?2
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "unstorage@1.17.6, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
