#!/usr/bin/env bash
# A file that was written at 10:30 was written at 11:30 once it has been in an archive.
# The times in a zip archive are local. unzipper, node-stream-zip and jszip read them as UTC, so they are wrong by the offset of the zone;
# yauzl reads them as local, as the format says. Guess: the time that was written.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . jszip@3.10.2 node-stream-zip@1.16.0 unzipper@0.12.5 yauzl@3.4.0 fflate@0.8.3

cat >try.mjs <<'JS'
import { zipSync } from 'fflate';
import JSZip from 'jszip';
import StreamZip from 'node-stream-zip';
import { writeFileSync } from 'node:fs';
import unzipper from 'unzipper';
import yauzl from 'yauzl';
const mtime = new Date('2026-12-01T10:30:00');
const archive = Buffer.from(zipSync({ 'counts.csv': [new Uint8Array(1), { mtime }] }));
writeFileSync('archive.zip', archive);
const stream = new StreamZip.async({ file: 'archive.zip' });
const read = {
  yauzl: await new Promise((resolve) => yauzl.fromBuffer(archive, (error, file) => file.on('entry', (entry) => resolve(entry.getLastModDate())))),
  unzipper: (await unzipper.Open.buffer(archive)).files[0].lastModifiedDateTime,
  'node-stream-zip': new Date((await stream.entry('counts.csv')).time),
  jszip: (await JSZip.loadAsync(archive)).file('counts.csv').date,
};
for (const [name, date] of Object.entries(read)) console.log(name, date.toTimeString().slice(0, 5));
await stream.close();
JS

expected="$(cat <<'SEEN'
yauzl 10:30
unzipper 11:30
node-stream-zip 11:30
jszip 11:30
SEEN
)"
seen="$(TZ=Europe/Berlin node try.mjs)"
printf '%s\n%s\n' "jszip@3.10.2, node-stream-zip@1.16.0, unzipper@0.12.5, yauzl@3.4.0, fflate@0.8.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
