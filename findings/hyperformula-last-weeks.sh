#!/usr/bin/env bash
# 29 December 2025 is in week 53, three days before week 1 of 2026.
# ISOWEEKNUM of HyperFormula knows that January may begin in the last year's week, but not that December may end in the next year's first one.
# Samples of one week fall in two, in every year that ends before a Thursday. Guess: week 1, as in a spreadsheet.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . hyperformula@3.5.0

cat >try.mjs <<'JS'
import { HyperFormula } from 'hyperformula';
const engine = HyperFormula.buildFromArray([[null]], { licenseKey: 'gpl-v3' });
function result(formula) {
  engine.setCellContents({ col: 0, row: 0, sheet: 0 }, [[`=${formula}`]]);
  return engine.getCellValue({ col: 0, row: 0, sheet: 0 });
}
const day = 86_400_000;
// The week of a day is that of its Thursday.
function byTheRule(time) {
  const thursday = new Date(time + (3 - ((new Date(time).getUTCDay() + 6) % 7)) * day);
  return 1 + Math.floor((thursday.getTime() - Date.UTC(thursday.getUTCFullYear(), 0, 1)) / day / 7);
}
const weekOf = (time) => result(`ISOWEEKNUM(DATE(${new Date(time).toISOString().slice(0, 10).replaceAll('-', ',')}))`);
for (const text of ['2025-12-28', '2025-12-29', '2026-01-01', '2027-01-03']) {
  console.log(`${text}: week ${weekOf(Date.parse(text))}, by the rule ${byTheRule(Date.parse(text))}`);
}
const wrong = [];
for (let time = Date.UTC(2024, 0, 1); time < Date.UTC(2027, 0, 1); time += day) {
  if (weekOf(time) !== byTheRule(time)) wrong.push(new Date(time).toISOString().slice(0, 10));
}
console.log('wrong from 2024 to 2026:', wrong.join(', '));
JS

expected="$(cat <<'SEEN'
2025-12-28: week 52, by the rule 52
2025-12-29: week 53, by the rule 1
2026-01-01: week 1, by the rule 1
2027-01-03: week 53, by the rule 53
wrong from 2024 to 2026: 2024-12-30, 2024-12-31, 2025-12-29, 2025-12-30, 2025-12-31
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "hyperformula@3.5.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
