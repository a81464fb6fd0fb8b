#!/usr/bin/env bash
# mqtt-pattern 2.1.1 lets # and +/... match the topics that begin with $SYS, so the broker's own statistics pass for readings, and + does not
# match an empty level: lab/ and lab//temp (a sensor without a name) are left out.
# Guess: MQTT 4.7, where a filter that begins with a wildcard takes no topic that begins with $, and + takes an empty level.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . mqtt-pattern@2.1.1

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const { matches } = createRequire(import.meta.url)('mqtt-pattern');
for (const [filter, topic] of [['#', '$SYS/broker/load'], ['+/broker/load', '$SYS/broker/load'], ['lab/+', 'lab/'], ['lab/+/temp', 'lab//temp'], ['lab/#', 'lab']]) console.log(filter, topic, matches(filter, topic));
JS

expected="$(cat <<'SEEN'
# $SYS/broker/load true
+/broker/load $SYS/broker/load true
lab/+ lab/ false
lab/+/temp lab//temp false
lab/# lab true
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "mqtt-pattern@2.1.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
