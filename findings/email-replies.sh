#!/usr/bin/env bash
# A reply ends where a line begins with -80 °C, or below the headings of a table.
# node-email-reply-parser and emailreplyparser take a line with a dash for the beginning of a signature, and leave out all that follows.
# email-reply-parser does so at a line of ====; two of the three drop a line like "> 5 mg: toxic". Guess: all that is written.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . node-email-reply-parser@0.1.4 emailreplyparser@0.0.5 email-reply-parser@2.3.9

cat >try.mjs <<'JS'
import EmailReplyParser from 'email-reply-parser';
import emailreplyparser from 'emailreplyparser';
import nodeEmailReplyParser from 'node-email-reply-parser';
const replies = ['Thanks.\n\n-80 °C is right.\nUse 5 mg.\n', 'Dose | n\n---- | --\n5 mg | 3\n', 'Groups\n====\nA: 5 mg\n', 'Seen:\n> 5 mg: toxic\nUse 1 mg.\n'];
for (const reply of replies) {
  const texts = [nodeEmailReplyParser(reply, true), emailreplyparser.EmailReplyParser.parse_reply(reply), new EmailReplyParser().parseReply(reply)];
  console.log(JSON.stringify(reply.trim()), '=>', texts.map((text) => JSON.stringify(text.trim())).join(' '));
}
JS

expected="$(cat <<'SEEN'
"Thanks.\n\n-80 °C is right.\nUse 5 mg." => "Thanks." "Thanks." "Thanks.\n\n-80 °C is right.\nUse 5 mg."
"Dose | n\n---- | --\n5 mg | 3" => "Dose | n" "Dose | n\n---- | --\n5 mg | 3" "Dose | n\n---- | --\n5 mg | 3"
"Groups\n====\nA: 5 mg" => "Groups\n====\nA: 5 mg" "Groups\n====\nA: 5 mg" "Groups"
"Seen:\n> 5 mg: toxic\nUse 1 mg." => "Seen:\nUse 1 mg." "Seen:\n> 5 mg: toxic\nUse 1 mg." "Seen:\nUse 1 mg."
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "node-email-reply-parser@0.1.4, emailreplyparser@0.0.5, email-reply-parser@2.3.9, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
