#!/usr/bin/env bash
# A PET image that the scanner corrected for decay back to the injection shows 1.46 times the uptake.
# DICOM's DecayCorrection says whether an image is corrected to its start (START) or to the injection (ADMIN). calculate-suv takes off the
# decay in both. For images in g/ml, its factor for lean body mass still holds the dose, so that the uptake comes out as nearly 0.
# Guess: weight / dose for ADMIN; lean body mass / weight for g/ml.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @cornerstonejs/calculate-suv@1.1.0

cat >try.mjs <<'JS'
import { createRequire } from 'node:module';
const { calculateSUVScalingFactors } = createRequire(import.meta.url)('@cornerstonejs/calculate-suv');
const [weight, dose, halfLife] = [70000, 3.7e8, 6586.2];
const scan = {
  ...{ SeriesDate: '20260115', SeriesTime: '110000', AcquisitionDate: '20260115', AcquisitionTime: '110000' },
  ...{ RadiopharmaceuticalStartDateTime: '20260115100000', RadionuclideTotalDose: dose, RadionuclideHalfLife: halfLife },
  ...{ PatientWeight: weight / 1000, PatientSize: 1.75, PatientSex: 'M', CorrectedImage: ['ATTN', 'DECY'] },
};
console.log(`weight / dose ${(weight / dose).toPrecision(4)}, / dose after an hour ${(weight / dose / 2 ** (-3600 / halfLife)).toPrecision(4)}`);
for (const [Units, DecayCorrection] of [['BQML', 'START'], ['BQML', 'ADMIN'], ['GML', 'START']]) {
  const [{ suvbw, suvlbm }] = calculateSUVScalingFactors([{ ...scan, Units, DecayCorrection }]);
  const [body, lean] = [suvbw, suvlbm].map((factor) => factor.toPrecision(4));
  console.log(`${Units} ${DecayCorrection}: by weight ${body}, by lean body mass ${lean}, which is ${(suvlbm / suvbw).toPrecision(4)} of it`);
}
JS

expected="$(cat <<'SEEN'
weight / dose 0.0001892, / dose after an hour 0.0002763
BQML START: by weight 0.0002763, by lean body mass 0.0002282, which is 0.8257 of it
BQML ADMIN: by weight 0.0002763, by lean body mass 0.0002282, which is 0.8257 of it
GML START: by weight 1.000, by lean body mass 0.0002282, which is 0.0002282 of it
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "@cornerstonejs/calculate-suv@1.1.0, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
