#!/usr/bin/env bash
# A formula that a notebook has computed is an empty box.
# Outside a browser, notebookjs writes LaTeX to innerText, which its document does not have. It prefers LaTeX to the plain text beside
# it, so neither is seen. Guess: the LaTeX, or the plain text.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . notebookjs@0.8.3

cat >try.mjs <<'JS'
import notebook from 'notebookjs';
const output = (data) => ({ output_type: 'execute_result', execution_count: 1, metadata: {}, data });
const outputs = [output({ 'text/plain': ['Km = 5.2'] }), output({ 'text/plain': ['Km = 5.2'], 'text/latex': ['$$K_m = 5.2$$'] })];
const cell = { cell_type: 'code', execution_count: 1, metadata: {}, source: ['fit()'], outputs };
const page = notebook.parse({ nbformat: 4, nbformat_minor: 4, metadata: {}, cells: [cell] }).render();
for (const box of page.querySelectorAll('.nb-output')) console.log(box.innerHTML);
JS

expected="$(cat <<'SEEN'
<pre class="nb-text-output">Km = 5.2</pre>
<div class="nb-latex-output"></div>
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "notebookjs@0.8.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
