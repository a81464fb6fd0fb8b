#!/usr/bin/env bash
# Johannes van der Waals has the family name "van" and the given name "der".
# PubMed writes an author as family name, initials and suffix. astrocite-eutils takes the first two words, drops the others, and says
# nothing. Guess: the initials are the last word before a suffix.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . astrocite-eutils@0.16.4

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const { toCSL } = createRequire(import.meta.url)('astrocite-eutils');
const names = ['van der Waals J', 'de la Cruz MA', 'Garcia Marquez G', 'Smith JA Jr', 'Li X'];
const authors = names.map((name) => ({ name, authtype: 'Author', clusterid: '' }));
const dates = { pubdate: '2026 Jan 5', epubdate: '', sortpubdate: '2026/01/05 00:00' };
const ids = [{ idtype: 'pubmed', idtypen: 1, value: '1' }];
const journal = { source: 'J', fulljournalname: 'Journal', volume: '1', issue: '2', pages: '3-4', issn: '', essn: '', lang: ['eng'] };
const summary = { uid: '1', title: 'T.', ...dates, ...journal, authors, articleids: ids, pubtype: ['Journal Article'], attributes: [], history: [], references: [] };
const [{ author }] = toCSL({ header: {}, result: { uids: ['1'], 1: summary } });
for (const [index, { family, given }] of author.entries()) console.log(`${names[index]}:`, JSON.stringify({ family, given }));
JS

expected="$(cat <<'SEEN'
van der Waals J: {"family":"van","given":"der"}
de la Cruz MA: {"family":"de","given":"la"}
Garcia Marquez G: {"family":"Garcia","given":"Marquez"}
Smith JA Jr: {"family":"Smith","given":"JA"}
Li X: {"family":"Li","given":"X"}
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "astrocite-eutils@0.16.4, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
