#!/usr/bin/env bash
# A step that is done looks like one that is not, and a line ends in a backslash.
# slackify-markdown makes a bullet of each task without its box. A hard line break, two spaces or a backslash in Markdown, becomes a backslash
# and a line break, which Slack shows. Guess: a box or [x] before the step, and the line break alone.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . slackify-markdown@4.5.0

cat >try.mjs <<'JS'
import slackifyMarkdown from 'slackify-markdown';
for (const text of ['- [x] Dilute\n- [ ] Incubate', 'Dose: 5 mg  \nRoute: oral', 'p < 0.05'])
  console.log(JSON.stringify(text), '->', JSON.stringify(slackifyMarkdown(text)));
JS

expected="$(cat <<'SEEN'
"- [x] Dilute\n- [ ] Incubate" -> "•   Dilute\n•   Incubate\n"
"Dose: 5 mg  \nRoute: oral" -> "Dose: 5 mg\\\nRoute: oral\n"
"p < 0.05" -> "p &lt; 0.05\n"
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "slackify-markdown@4.5.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
