#!/usr/bin/env bash
# A label that names its unit makes absorbance the x axis, and a factor divides the values twice.
# fromVariables of convert-to-jcamp writes such a label of y over that of x, and none for y. With a yFactor of 0.001 the values come back a
# thousand times too high, since it divides by the factor in two places. Guess: what was given.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . convert-to-jcamp@7.0.1 jcampconverter@12.5.3

cat >try.mjs <<'JS'
import { fromVariables } from 'convert-to-jcamp';
import { convert } from 'jcampconverter';
const x = { data: [400, 401, 402], label: 'Wavenumber', units: '1/cm' };
function show(title, y, info = {}) {
  const text = fromVariables({ x, y: { data: [0.5, 0.25, 0.125], ...y } }, { info });
  const units = text.split('\n').filter((line) => /UNITS=/.test(line)).join(' ');
  console.log(`${title}: ${units} y ${[...convert(text).flatten[0].spectra[0].data.y].join(', ')}`);
}
show('label without its unit', { label: 'Absorbance', units: 'AU' });
show('label with its unit', { label: 'Absorbance (AU)', units: 'AU' });
show('another label with its unit', { label: 'Intensity (a.u.)', units: 'a.u.' });
show('with a factor of 0.001', { label: 'Absorbance', units: 'AU' }, { yFactor: 0.001 });
JS

expected="$(cat <<'SEEN'
label without its unit: ##XUNITS=Wavenumber (1/cm) ##YUNITS=Absorbance (AU) y 0.5, 0.25, 0.125
label with its unit: ##XUNITS=Absorbance (AU) ##YUNITS= y 0.5, 0.25, 0.125
another label with its unit: ##XUNITS=Intensity (a.u.) ##YUNITS= y 0.5, 0.25, 0.125
with a factor of 0.001: ##XUNITS=Wavenumber (1/cm) ##YUNITS=Absorbance (AU) y 500, 250, 125
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "convert-to-jcamp@7.0.1, jcampconverter@12.5.3, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
