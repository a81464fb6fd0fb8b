#!/usr/bin/env bash
# What runs on Fridays and on the 13th runs on Friday the 13th, and what runs on Sundays runs on Saturdays.
# With a day of the month and one of the week, cron runs on either; node-cron and later run on days that are both. later takes 7 for
# Saturday, and cron-schedule drops #1, so the first Monday is each one. Guess: the days of cron, as in cron-parser.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . node-cron@4.6.0 @breejs/later@4.2.0 cron-schedule@6.0.0 cron-parser@5.10.5

cat >try.mjs <<'JS'
import later from '@breejs/later';
import { CronExpressionParser } from 'cron-parser';
import { parseCronExpression } from 'cron-schedule';
import { createTask } from 'node-cron';
const from = new Date('2026-12-01T00:00:00Z');
const next = {
  'cron-parser': (cron) => CronExpressionParser.parse(cron, { currentDate: from }).take(4).map((date) => date.toDate()),
  'cron-schedule': (cron) => parseCronExpression(cron).getNextDates(4, from),
  later: (cron) => later.schedule(later.parse.cron(cron)).next(4, from),
  'node-cron': (cron) => createTask(cron, () => {}).getNextRuns(4),
};
const day = (date) => `${date.toUTCString().slice(0, 3)} ${date.getUTCDate()}`;
for (const [name, runs] of Object.entries(next)) console.log('0 9 13 * 5', name, runs('0 9 13 * 5').map(day).join(', '));
for (const cron of ['0 9 * * 7', '0 9 * * 1#1']) for (const name of ['cron-parser', 'cron-schedule', 'later']) console.log(cron, name, next[name](cron).map(day).join(', '));
process.exit();
JS

expected="$(cat <<'SEEN'
0 9 13 * 5 cron-parser Fri 4, Fri 11, Sun 13, Fri 18
0 9 13 * 5 cron-schedule Fri 4, Fri 11, Sun 13, Fri 18
0 9 13 * 5 later Fri 13, Fri 13, Fri 13, Fri 13
0 9 13 * 5 node-cron Fri 13, Fri 13, Fri 13, Fri 13
0 9 * * 7 cron-parser Sun 6, Sun 13, Sun 20, Sun 27
0 9 * * 7 cron-schedule Sun 6, Sun 13, Sun 20, Sun 27
0 9 * * 7 later Sat 5, Sat 12, Sat 19, Sat 26
0 9 * * 1#1 cron-parser Mon 7, Mon 4, Mon 1, Mon 1
0 9 * * 1#1 cron-schedule Mon 7, Mon 14, Mon 21, Mon 28
0 9 * * 1#1 later Mon 7, Mon 4, Mon 1, Mon 1
SEEN
)"
seen="$(TZ=UTC node try.mjs)"
printf '%s\n%s\n' "node-cron@4.6.0, @breejs/later@4.2.0, cron-schedule@6.0.0, cron-parser@5.10.5, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
