#!/usr/bin/env bash
# HLA-A*02:01 and HLA-B*07:02 reach the agent as HLA-A02:01 and HLA-B07:02.
# The Slack adapter of the Chat SDK reads what stands between two asterisks of a message as bold, also inside words and in code, where
# Slack shows the asterisks. The plain text, which the bot's handlers and an agent get, is without them. Guess: the alleles as written.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . chat@4.41.1 @chat-adapter/slack@4.41.1

cat >try.mjs <<'JS'
import { SlackFormatConverter } from '@chat-adapter/slack';
import { slackMrkdwnToMarkdown } from '@chat-adapter/slack/format';
const converter = new SlackFormatConverter();
for (const message of ['HLA-A*02:01 and HLA-B*07:02', 'C*03:04, C*04:01', '5 * 3 * 2', '`HLA-A*02:01 HLA-B*07:02`']) {
  console.log(message, '=>', slackMrkdwnToMarkdown(message), '=>', converter.extractPlainText(message));
}
JS

expected="$(cat <<'SEEN'
HLA-A*02:01 and HLA-B*07:02 => HLA-A**02:01 and HLA-B**07:02 => HLA-A02:01 and HLA-B07:02
C*03:04, C*04:01 => C**03:04, C**04:01 => C03:04, C04:01
5 * 3 * 2 => 5 ** 3 ** 2 => 5 ** 3 ** 2
`HLA-A*02:01 HLA-B*07:02` => `HLA-A**02:01 HLA-B**07:02` => HLA-A**02:01 HLA-B**07:02
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "chat@4.41.1, @chat-adapter/slack@4.41.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
