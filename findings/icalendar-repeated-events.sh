#!/usr/bin/env bash
# A check on each last day of the month is on 27 February, 1 March and 30 March.
# icalendar 0.7.1 is right for the 31st, but not for BYMONTHDAY=-1. What is every second Monday and Thursday is on each Monday.
# Guess: 28 February, 31 March, 30 April; both days of every second week.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . icalendar@0.7.1

cat >try.mjs <<'JS'
process.env.TZ = 'UTC';
const { default: icalendar } = await import('icalendar');
function days(rule, start) {
  const lines = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//test//EN', 'BEGIN:VEVENT', 'UID:1', 'DTSTAMP:20260101T000000Z'];
  lines.push(`DTSTART:${start}T090000Z`, `RRULE:${rule}`, 'SUMMARY:check', 'END:VEVENT', 'END:VCALENDAR', '');
  const [event] = icalendar.parse_calendar(lines.join('\r\n')).events();
  const before = new Date('2026-01-01T00:00:00Z');
  return event.rrule().nextOccurences(before, 6).map((date) => date.toISOString().slice(5, 10));
}
const rules = { 'FREQ=MONTHLY;BYMONTHDAY=31;COUNT=4': '20260131', 'FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=4': '20260131' };
Object.assign(rules, { 'FREQ=WEEKLY;INTERVAL=2;COUNT=4': '20260202', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH;COUNT=6': '20260202' });
for (const [rule, start] of Object.entries(rules)) console.log(`${rule}: ${days(rule, start).join(' ')}`);
JS

expected="$(cat <<'SEEN'
FREQ=MONTHLY;BYMONTHDAY=31;COUNT=4: 01-31 03-31 05-31 07-31
FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=4: 01-31 02-27 03-01 03-30
FREQ=WEEKLY;INTERVAL=2;COUNT=4: 02-02 02-16 03-02 03-16
FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH;COUNT=6: 02-02 02-05 02-09 02-16 02-19 02-23
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "icalendar@0.7.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
