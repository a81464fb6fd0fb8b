#!/usr/bin/env bash
# In a growing answer, the column gene_name_id is gene name id in italics, and [Ca2+] loses its brackets.
# streaming-markdown takes an underscore inside a word for the beginning of italics, and each pair of brackets for a link, with or without
# an address. Guess: as in CommonMark, the names and the brackets as they are.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . streaming-markdown@0.2.15

cat >try.mjs <<'JS'
import * as smd from 'streaming-markdown';
function shown(answer) {
  let text = '';
  const renderer = { data: null, add_token: (_, token) => (text += `<${smd.token_to_string?.(token) ?? token}>`), end_token: () => (text += '</>'), add_text: (_, part) => (text += part), set_attr: () => {} };
  const parser = smd.parser(renderer);
  for (const letter of answer) smd.parser_write(parser, letter);
  smd.parser_end(parser);
  return text;
}
for (const answer of ['gene_name_id', 'x_1_2', '[Ca2+]i rises', 'C[C@@H](N)C(=O)O']) console.log(answer, '=>', shown(answer));
JS

expected="$(cat <<'SEEN'
gene_name_id => <Paragraph>gene<Italic_Und>name</>id
x_1_2 => <Paragraph>x<Italic_Und>1</>2
[Ca2+]i rises => <Paragraph><Link>Ca2+</>i rises
C[C@@H](N)C(=O)O => <Paragraph>C<Link>C@@H</>C(=O)O
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "streaming-markdown@0.2.15, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
