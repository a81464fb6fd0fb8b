#!/usr/bin/env bash
# An article by a consortium has an author called " ", and one of March 2026 has no date.
# JATS names groups in <collab> and may leave out the day. jats-xml takes persons only and full dates only. Guess: the name of the group,
# and at least the year.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . jats-xml@1.1.1

cat >try.mjs <<'JS'
import { Jats } from 'jats-xml';
function read(author, date) {
  const title = '<title-group><article-title>Growth</article-title></title-group>';
  const authors = `<contrib-group><contrib contrib-type="author">${author}</contrib></contrib-group>`;
  const meta = `${title}${authors}<pub-date pub-type="epub">${date}</pub-date>`;
  const read = new Jats(`<article><front><article-meta>${meta}</article-meta></front></article>`).frontmatter;
  return `${JSON.stringify(read.authors.map(({ name }) => name))}, ${read.date}`;
}
console.log(read('<name><surname>Doe</surname><given-names>Jane</given-names></name>', '<day>31</day><month>3</month><year>2026</year>'));
console.log(read('<collab>The ENCODE Consortium</collab>', '<month>3</month><year>2026</year>'));
console.log(read('<collab>The ENCODE Consortium</collab>', '<year>2026</year>'));
JS

expected="$(cat <<'SEEN'
["Jane Doe"], 2026-03-31
[" "], undefined
[" "], undefined
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "jats-xml@1.1.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
