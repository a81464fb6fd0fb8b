#!/usr/bin/env bash
# From 4 January 2026 to 30 December 2028, each epidemiological week is one too late.
# The CDC's week 1 is the first from Sunday to Saturday with four days in the year. epi-week counts the Saturdays since 1 January, also
# that of a week with less: where the year begins on a Thursday, Friday or Saturday, all its weeks are late. The time that it gets loses
# its hour. Guess: the CDC's weeks.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . epi-week@0.0.1

cat >try.mjs <<'JS'
process.env.TZ = 'UTC';
const { default: epiWeek } = await import('epi-week');
const day = 86_400_000;
// The week is that of its Wednesday.
function byTheRule(date) {
  const wednesday = new Date(date.getTime() + (3 - date.getUTCDay()) * day);
  const year = wednesday.getUTCFullYear();
  return { week: 1 + Math.floor((wednesday.getTime() - Date.UTC(year, 0, 1)) / day / 7), year };
}
for (const text of ['2025-01-05', '2026-01-03', '2026-01-04', '2026-07-01', '2027-01-03']) {
  const [seen, rule] = [epiWeek(new Date(text)), byTheRule(new Date(text))];
  console.log(`${text}: week ${seen.week} of ${seen.year}, by the rule week ${rule.week} of ${rule.year}`);
}
const wrong = {};
for (let time = Date.UTC(2014, 0, 1); time < Date.UTC(2034, 0, 1); time += day) {
  const [seen, rule] = [epiWeek(new Date(time)), byTheRule(new Date(time))];
  const year = new Date(time).getUTCFullYear();
  if (seen.week !== rule.week || seen.year !== rule.year) wrong[year] = (wrong[year] ?? 0) + 1;
}
console.log('days with a wrong week:', Object.entries(wrong).map((pair) => pair.join(' ')).join(', '));
const taken = new Date('2025-07-01T10:30:00Z');
epiWeek(taken);
console.log('taken at 10:30, then', taken.toISOString());
JS

expected="$(cat <<'SEEN'
2025-01-05: week 2 of 2025, by the rule week 2 of 2025
2026-01-03: week 53 of 2025, by the rule week 53 of 2025
2026-01-04: week 2 of 2026, by the rule week 1 of 2026
2026-07-01: week 27 of 2026, by the rule week 26 of 2026
2027-01-03: week 2 of 2027, by the rule week 1 of 2027
days with a wrong week: 2015 362, 2016 366, 2021 363, 2022 365, 2026 362, 2027 365, 2028 365, 2032 363, 2033 365
taken at 10:30, then 2025-07-01T00:00:00.000Z
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "epi-week@0.0.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
