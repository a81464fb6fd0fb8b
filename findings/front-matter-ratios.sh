#!/usr/bin/env bash
# In the head of a note, a dilution of 1:10 is 70, 10:30 is 630, and sample 12_5 is 125.
# gray-matter and front-matter read the head as YAML 1.1, where colons separate digits to the base of 60 and underscores separate nothing;
# 1:100 stays a text. js-yaml 5, like YAML 1.2, reads texts. Guess: texts, as in the YAML of today.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . gray-matter@4.0.3 front-matter@4.0.2 js-yaml@5.5.0

cat >try.mjs <<'JS'
import frontMatter from 'front-matter';
import matter from 'gray-matter';
import { load } from 'js-yaml';
const head = 'dilution: 1:10\nstock: 1:100\ntime: 10:30\nsample: 12_5\nlot: 0012\nread: 2026-12-01 10:30:00';
const read = { 'gray-matter': matter(`---\n${head}\n---\n`).data, 'front-matter': frontMatter(`---\n${head}\n---\n`).attributes, 'js-yaml': load(head) };
for (const [name, values] of Object.entries(read)) console.log(name, JSON.stringify(values));
JS

expected="$(cat <<'SEEN'
gray-matter {"dilution":70,"stock":"1:100","time":630,"sample":125,"lot":10,"read":"2026-12-01T10:30:00.000Z"}
front-matter {"dilution":70,"stock":"1:100","time":630,"sample":125,"lot":10,"read":"2026-12-01T10:30:00.000Z"}
js-yaml {"dilution":"1:10","stock":"1:100","time":"10:30","sample":"12_5","lot":12,"read":"2026-12-01 10:30:00"}
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "gray-matter@4.0.3, front-matter@4.0.2, js-yaml@5.5.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
