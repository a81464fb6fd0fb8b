#!/usr/bin/env bash
# No gene has a p-value below 1e-5, nor above it.
# The comparisons of smart-array-filter know no numbers with exponents: nothing matches, and with a minus everything does. The same number
# with all its zeros works, and so does an exponent without a comparison. Guess: the genes below and above.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . smart-array-filter@5.0.0

cat >try.mjs <<'JS'
import { filter } from 'smart-array-filter';
const genes = [{ gene: 'TP53', p: 3e-7 }, { gene: 'EGFR', p: 0.004 }, { gene: 'MYC', p: 0.2 }];
for (const keywords of ['p:<0.00001', 'p:<1e-5', 'p:>1e-5', '-p:<1e-5', 'p:1e-8..1e-2', 'p:=3e-7', 'p:3e-7'])
  console.log(`${keywords}: ${filter(genes, { keywords }).map(({ gene }) => gene).join(' ') || 'none'}`);
JS

expected="$(cat <<'SEEN'
p:<0.00001: TP53
p:<1e-5: none
p:>1e-5: none
-p:<1e-5: TP53 EGFR MYC
p:1e-8..1e-2: none
p:=3e-7: none
p:3e-7: TP53
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "smart-array-filter@5.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
