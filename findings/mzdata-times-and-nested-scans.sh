#!/usr/bin/env bash
# A retention time of two minutes is 2 beside 90 seconds, and nested MS2 scans are gone.
# mzML gives the unit of each time, and mzXML a duration; mzdata drops both units. In mzXML an MS2 scan may stand inside its MS1 scan. It
# is left out without a message. Guess: times in one unit, and every scan.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . mzdata@3.0.0

cat >try.mjs <<'JS'
import { parseMZ } from 'mzdata';
const numbers = Buffer.from(new Float64Array([100, 200]).buffer).toString('base64');
const term = (accession, name, more = '') => `<cvParam cvRef="MS" accession="${accession}" name="${name}" ${more || 'value=""'}/>`;
const plain = term('MS:1000523', '64-bit float') + term('MS:1000576', 'no compression');
const array = (kind) => `<binaryDataArray encodedLength="${numbers.length}">${plain}${kind}<binary>${numbers}</binary></binaryDataArray>`;
const arrays = array(term('MS:1000514', 'm/z array')) + array(term('MS:1000515', 'intensity array'));
function spectrum(index, time, code, unit) {
  const start = term('MS:1000016', 'scan start time', `value="${time}" unitCvRef="UO" unitAccession="${code}" unitName="${unit}"`);
  const scans = `<scanList count="1"><scan>${start}</scan></scanList>`;
  const level = term('MS:1000511', 'ms level', 'value="1"');
  return `<spectrum id="scan=${index + 1}" index="${index}" defaultArrayLength="2">${level}${scans}<binaryDataArrayList count="2">${arrays}</binaryDataArrayList></spectrum>`;
}
const spectra = spectrum(0, 90, 'UO:0000010', 'second') + spectrum(1, 2, 'UO:0000031', 'minute');
const run = `<run id="r" defaultInstrumentConfigurationRef="i"><spectrumList count="2" defaultDataProcessingRef="d">${spectra}</spectrumList></run>`;
const vocabularies = `<cvList count="2"><cv id="MS" fullName="PSI-MS" URI="http://purl.obolibrary.org/obo/ms.obo"/>
<cv id="UO" fullName="Units" URI="http://purl.obolibrary.org/obo/uo.obo"/></cvList>`;
const origin = `<fileDescription><fileContent>${term('MS:1000579', 'MS1 spectrum')}</fileContent></fileDescription>
<softwareList count="1"><software id="s" version="1">${term('MS:1000799', 'custom unreleased software tool')}</software></softwareList>
<instrumentConfigurationList count="1"><instrumentConfiguration id="i">${term('MS:1000031', 'instrument model')}</instrumentConfiguration>
</instrumentConfigurationList><dataProcessingList count="1"><dataProcessing id="d"><processingMethod order="0" softwareRef="s">
${term('MS:1000544', 'Conversion to mzML')}</processingMethod></dataProcessing></dataProcessingList>`;
const mzml = `<?xml version="1.0"?><mzML xmlns="http://psi.hupo.org/ms/mzml" version="1.1.0">${vocabularies}${origin}${run}</mzML>`;
const pair = Buffer.alloc(16);
pair.writeDoubleBE(100);
pair.writeDoubleBE(7, 8);
const packing = 'precision="64" byteOrder="network" contentType="m/z-int" compressionType="none" compressedLen="0"';
const peaks = `<peaks ${packing}>${pair.toString('base64')}</peaks>`;
const scan = (number, level, time, { precursor = '', inner = '' } = {}) =>
  `<scan num="${number}" msLevel="${level}" peaksCount="1" retentionTime="${time}">${precursor}${peaks}${inner}</scan>`;
const precursor = '<precursorMz precursorScanNum="1" precursorIntensity="7">100</precursorMz>';
const scans = scan(1, 1, 'PT90S', { inner: scan(2, 2, 'PT91S', { precursor }) }) + scan(3, 1, 'PT2M');
const parent = `<parentFile fileName="r.raw" fileType="RAWData" fileSha1="${'0'.repeat(40)}"/>`;
const processing = '<dataProcessing><software type="conversion" name="s" version="1.0"/></dataProcessing>';
const runs = `<msRun scanCount="3">${parent}${processing}${scans}</msRun><indexOffset>0</indexOffset>`;
const mzxml = `<?xml version="1.0"?><mzXML xmlns="http://sashimi.sourceforge.net/schema_revision/mzXML_3.1">${runs}</mzXML>`;
for (const [name, file] of [['mzML', mzml], ['mzXML', mzxml]]) {
  const { times, series } = await parseMZ(Buffer.from(file));
  console.log(name, 'times', times.join(' '), 'scans', series.ms.data.length);
}
JS

expected="$(cat <<'SEEN'
mzML times 90 2 scans 2
mzXML times 90 2 scans 2
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "mzdata@3.0.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
