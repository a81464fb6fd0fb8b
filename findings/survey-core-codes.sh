#!/usr/bin/env bash
# survey-core 3.1.1 compares an answer with a text in quotes as numbers where both look like one: a visibleIf of {code} = '007' shows for 7,
# '1.10' for 1.1 and '1e3' for 1000; {code} = '7' does not for 007. A follow-up one month after 31 January is on 3 March.
# Guess: quotes make it a text, so only the same characters match; 28 February.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . survey-core@3.1.1

cat >try.mjs <<'JS'
import { Model } from 'survey-core';
process.env.TZ = 'UTC';
const survey = new Model({ elements: [{ type: 'text', name: 'code' }] });
for (const [code, expression] of [['7', "{code} = '007'"], ['007', "{code} = '7'"], ['1.1', "{code} = '1.10'"], ['1000', "{code} = '1e3'"]]) {
  survey.setValue('code', code);
  console.log(code, expression, survey.runExpression(expression));
}
console.log('a month after 31 January', survey.runExpression("dateAdd('2026-01-31', 1, 'months')").toISOString());
JS

expected="$(cat <<'SEEN'
7 {code} = '007' true
007 {code} = '7' false
1.1 {code} = '1.10' true
1000 {code} = '1e3' true
a month after 31 January 2026-03-03T00:00:00.000Z
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "survey-core@3.1.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
