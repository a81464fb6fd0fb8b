#!/usr/bin/env bash
# Of nine mice in five folds, four are neither trained with nor tested.
# ml-cross-validation makes folds of the whole part of n / k, here nine of one mouse, and keeps the first five of them. No message.
# Guess: folds of two, two, two, two and one, so that each mouse is tested once.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . ml-cross-validation@1.3.0

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const { kFold } = createRequire(import.meta.url)('ml-cross-validation');
for (const [mice, folds] of [[10, 5], [9, 5], [14, 5], [19, 10]]) {
  const features = Array.from({ length: mice }, (_, mouse) => [mouse]);
  const labels = features.map(([mouse]) => mouse % 2);
  const [trained, tested] = [new Set(), new Set()];
  kFold(features, labels, folds, (train, trainLabels, test) => {
    for (const [mouse] of train) trained.add(mouse);
    for (const [mouse] of test) tested.add(mouse);
    return test.map(([mouse]) => mouse % 2);
  });
  console.log(`${mice} mice in ${folds} folds: ${trained.size} trained with, ${tested.size} tested`);
}
JS

expected="$(cat <<'SEEN'
10 mice in 5 folds: 10 trained with, 10 tested
9 mice in 5 folds: 5 trained with, 5 tested
14 mice in 5 folds: 10 trained with, 10 tested
19 mice in 10 folds: 10 trained with, 10 tested
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "ml-cross-validation@1.3.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
