#!/usr/bin/env bash
# A patient called Müller is called MÃ¼ller.
# dcmjs writes all text in UTF-8 and leaves Specific Character Set as it was: with ISO_IR 100, which is Latin-1, the file says one thing and
# holds another, and dcmjs itself reads it wrong; 5 µM is 5 ÂµM. DICOM PS3.5 6.1 binds text to the declared set. Guess: Latin-1, or an error.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . dcmjs@0.52.2

cat >try.mjs <<'JS'
import dcmjs from 'dcmjs';
const { DicomDict, DicomMessage, DicomMetaDictionary } = dcmjs.data;
const imageClass = '1.2.840.10008.5.1.4.1.1.2';
const meta = { FileMetaInformationVersion: new Uint8Array([0, 1]).buffer, TransferSyntaxUID: '1.2.840.10008.1.2.1' };
Object.assign(meta, { ImplementationClassUID: '1.2.3', MediaStorageSOPClassUID: imageClass, MediaStorageSOPInstanceUID: '1.2.4' });
for (const set of ['ISO_IR 100', 'ISO_IR 192']) {
  const file = new DicomDict(DicomMetaDictionary.denaturalizeDataset(meta));
  const image = { SpecificCharacterSet: set, SOPClassUID: imageClass, SOPInstanceUID: '1.2.4' };
  Object.assign(image, { PatientName: 'Müller^J', ImageComments: '5 µM' });
  file.dict = DicomMetaDictionary.denaturalizeDataset(image);
  const bytes = file.write();
  const text = Buffer.from(bytes).toString('latin1');
  const { PatientName, ImageComments } = DicomMetaDictionary.naturalizeDataset(DicomMessage.readFile(bytes).dict);
  console.log(`${/ISO_IR \d+/.exec(text)[0]} in the file, UTF-8 ${text.includes('MÃ¼ller')}: ${PatientName[0].Alphabetic}, ${ImageComments}`);
}
JS

expected="$(cat <<'SEEN'
ISO_IR 100 in the file, UTF-8 true: MÃ¼ller^J, 5 ÂµM
ISO_IR 192 in the file, UTF-8 true: Müller^J, 5 µM
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "dcmjs@0.52.2, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
