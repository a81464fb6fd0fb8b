#!/usr/bin/env bash
# In an issue, "p < 0.05 and q > 0.1" is a link, and HLA-A*02:01 is HLA-A_02:01.
# jira2md takes what stands between < and > for an address, and stars inside words and in code for italics. On the way back, "~5 and ~10"
# lowers the first number, and each pair of brackets is an address. Guess: as in CommonMark, and the signs as they are.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . jira2md@3.0.1

cat >try.mjs <<'JS'
import j2m from 'jira2md';
for (const text of ['p < 0.05 and q > 0.1', 'HLA-A*02:01 and HLA-B*07:02', 'Use `x*y*z`']) console.log('to Jira:', text, '=>', j2m.to_jira(text));
for (const text of ['~5 mg and ~10 mg', '[Ca2+] rises', 'gene_name_id']) console.log('to Markdown:', text, '=>', j2m.to_markdown(text));
JS

expected="$(cat <<'SEEN'
to Jira: p < 0.05 and q > 0.1 => p [ 0.05 and q ] 0.1
to Jira: HLA-A*02:01 and HLA-B*07:02 => HLA-A_02:01 and HLA-B_07:02
to Jira: Use `x*y*z` => Use {{x_y_z}}
to Markdown: ~5 mg and ~10 mg => <sub>5 mg and </sub>10 mg
to Markdown: [Ca2+] rises => <Ca2+> rises
to Markdown: gene_name_id => gene*name*id
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "jira2md@3.0.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
