import { seededRandom } from './slack/ids.ts';

/** A made-up sequencing run. */
export type SampleTable = ReturnType<typeof sampleTable>;

const GENES = ['BRCA1', 'TP53', 'EGFR', 'MYC', 'KRAS', 'PTEN', 'CDK2', 'GAPDH', 'ACTB', 'IL6'];

/** Makes a CSV of at least `bytes`, the same for the same seed. */
export function sampleTable(seed: number, bytes: number) {
  const random = seededRandom(seed);
  const header = 'sample,gene,reads,quality,length\n';
  const lines = [header];
  const sums = { reads: 0, quality: 0, length: 0 };
  let size = header.length;
  let rows = 0;
  while (size < bytes) {
    const gene = GENES[Math.floor(random() * GENES.length)] ?? 'GAPDH';
    // Few samples have many reads, most are of good quality, and lengths lie around their middle.
    const reads = Math.floor(random() ** 3 * 5_000);
    const quality = Math.round((1 - random() ** 2) * 4_000) / 100;
    const length = 75 + Math.floor((random() + random()) * 38);
    rows += 1;
    sums.reads += reads;
    sums.quality += quality;
    sums.length += length;
    const line = `S${String(rows).padStart(7, '0')},${gene},${reads},${quality},${length}\n`;
    lines.push(line);
    size += line.length;
  }
  /** Those that hold numbers, with the means that a correct summary shows. */
  const columns = Object.entries(sums).map(([name, sum]) => ({ name, mean: sum / rows }));
  return { csv: Buffer.from(lines.join('')), rows, columns };
}
