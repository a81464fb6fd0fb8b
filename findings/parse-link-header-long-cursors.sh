#!/usr/bin/env bash
# A list of files ends after its first page if the link to the next one is long.
# A Link header of more than 2000 characters is read like no header, which a cursor in a store or a registry can reach; an error is there
# for those who set a variable of the environment. Guess: the link, or an error.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . parse-link-header@2.0.0

cat >try.mjs <<'JS'
import parse from 'parse-link-header';
for (const length of [1900, 1960]) {
  const header = `<https://store.example.org/files?cursor=${'a'.repeat(length)}>; rel="next"`;
  console.log(header.length, 'characters:', parse(header)?.next.rel ?? 'the last page');
}
console.log('no header:', parse('')?.next.rel ?? 'the last page');
JS

expected="$(cat <<'SEEN'
1953 characters: next
2013 characters: the last page
no header: the last page
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "parse-link-header@2.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
