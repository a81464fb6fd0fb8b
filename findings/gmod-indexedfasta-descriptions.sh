#!/usr/bin/env bash
# A transcript described by its variant c.1799T>A is two sequences, and has no bases.
# In FASTA, only a > at the start of a line begins a sequence. parseSmallFasta cuts the file at each >. With CRLF, a CR stays in the first
# lines. Guess: two sequences, NM_004333 of eight and NM_033360 of four bases.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @gmod/indexedfasta@5.0.2

cat >try.mjs <<'JS'
import { parseSmallFasta } from '@gmod/indexedfasta';
const text = (end) => ['>NM_004333 BRAF, c.1799T>A', 'ACGTACGT', '>NM_033360 KRAS', 'TTTT', ''].join(end);
for (const end of ['\n', '\r\n']) for (const { id, description, sequence } of parseSmallFasta(text(end)))
  console.log(`${JSON.stringify(end)}: ${JSON.stringify([id, description, sequence])}`);
JS

expected="$(cat <<'SEEN'
"\n": ["NM_004333","BRAF, c.1799T",""]
"\n": ["A","","ACGTACGT"]
"\n": ["NM_033360","KRAS","TTTT"]
"\r\n": ["NM_004333","BRAF, c.1799T",""]
"\r\n": ["A\r","","ACGTACGT"]
"\r\n": ["NM_033360","KRAS\r","TTTT"]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@gmod/indexedfasta@5.0.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
