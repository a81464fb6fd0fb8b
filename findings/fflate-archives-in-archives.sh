#!/usr/bin/env bash
# The files of an archive within an archive lie beside it, and it is damaged.
# Unzip of fflate looks for the end of a stored file whose size comes after it, and finds that of the first file within. Archives made in
# a browser or by a stream are such, and so is a .docx or .xlsx in one. Guess: one file, as the directory at the end says.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . fflate@0.8.3 client-zip@2.5.1 yauzl@3.4.0

cat >try.mjs <<'JS'
import { downloadZip } from 'client-zip';
import { Unzip, UnzipInflate } from 'fflate';
import yauzl from 'yauzl';
const zip = async (files) => Buffer.from(await downloadZip(files).arrayBuffer());
const run = await zip([{ name: 'plate1.csv', input: '1,2,3' }, { name: 'plate2.csv', input: '4,5,6' }]);
const upload = await zip([{ name: 'run.zip', input: run }, { name: 'notes.txt', input: 'wash' }]);
const listed = await new Promise((resolve) => {
  const names = [];
  yauzl.fromBuffer(upload, (error, archive) => archive.on('entry', (entry) => names.push(entry.fileName)).on('end', () => resolve(names)));
});
console.log('yauzl:', listed.join(', '));
const read = new Map();
const unzip = new Unzip((file) => {
  read.set(file.name, []);
  file.ondata = (error, bytes) => read.get(file.name).push(bytes);
  file.start();
});
unzip.register(UnzipInflate);
unzip.push(upload, true);
console.log('fflate:', [...read.keys()].join(', '), '| run.zip as it was:', Buffer.concat(read.get('run.zip')).equals(run));
JS

expected="$(cat <<'SEEN'
yauzl: run.zip, notes.txt
fflate: run.zip, plate1.csv, plate2.csv, notes.txt | run.zip as it was: false
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "fflate@0.8.3, client-zip@2.5.1, yauzl@3.4.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
