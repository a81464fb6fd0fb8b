import { Readable } from 'node:stream';
import type { AgentTurn } from './agent-script.ts';
import { columnChart } from './column-chart.ts';
import { writeLikeModel } from './sample-report.ts';
import { summarizeTable } from './table-summary.ts';

const GENES = 140;
const SAMPLES = 24;
/** How long a tool is seen at work. */
const TOOL_MS = 1_500;

const numberAt = (at: number) => Number((Math.sin(at * 12.9898) * 3).toFixed(2));
const row = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;

/** Made-up genes with their effects, as CSV. */
function genesCsv(): string {
  const lines = Array.from(
    { length: GENES },
    (_, at) => `GENE${at + 1},${numberAt(at)},${numberAt(at + 400)}`,
  );
  return `${['gene,log2fc,shift', ...lines].join('\n')}\n`;
}

const genesTable = () => {
  const lines = Array.from({ length: GENES }, (_, at) =>
    row([
      `*GENE${at + 1}*`,
      numberAt(at),
      `$10^{-${(at % 12) + 1}}$`,
      at % 2 === 0 ? 'up<br>in both' : 'down',
    ]),
  );
  return [
    row(['gene', '$\\log_2\\text{FC}$', '$p$', 'direction']),
    '| --- | ---: | ---: | --- |',
    ...lines,
  ].join('\n');
};

const samplesTable = () => {
  const names = Array.from({ length: SAMPLES }, (_, at) => `S${at + 1}`);
  const values = (from: number) => names.map((_, at) => numberAt(from + at));
  return [
    row(['gene', ...names]),
    row(['---', ...names.map(() => '---:')]),
    row(['GENE1', ...values(1)]),
    row(['GENE2', ...values(2)]),
  ].join('\n');
};

const METHODS = `# Effects of the treatment

## Methods

Cells were kept at 37 $^{\\circ}\\text{C}$ and 5 % CO<sub>2</sub> [1]. Genes with $|\\log_2\\text{FC}| \\geq 1$ and $p_{adj} < 10^{-3}$ count as changed ($\\alpha = 0.05$, mean $\\pm$ SD, $n = 3$).

## Results

The changes are shown in the figure below, and the genes by name in the table.

![Changes of all genes](./figures/gene%20changes.png)

*Figure 1.* Ranges of the effects; compare GSE32986 and [2].

`;
const REFERENCES = `

## References

[1] A description of the assay. PMID: 16990137.
[2] The data that were compared. doi:10.1038/nature12373.
[3] A textbook.
`;

/** An answer as one reads it in a paper: headings, formulas, a figure in its place, a long and a wide table, references. */
export async function writePaper(turn: AgentTurn): Promise<void> {
  await turn.tool('search_pubmed', { query: 'effects of the treatment' }, async () => {
    await turn.sleep(TOOL_MS);
    return JSON.stringify({ pmids: [{ pmid: '16990137' }, { pmid: '31978945' }] });
  });
  await turn.tool('plot_ranges', { file: 'gene changes.png' }, async () => {
    const { columns } = await summarizeTable(Readable.from([genesCsv()]), ',');
    await turn.result('gene changes.png', 'image/png', columnChart(columns));
    return 'Saved';
  });
  await writeLikeModel(turn, METHODS);
  turn.write(`${genesTable()}\n\nEach sample by itself:\n\n`);
  await writeLikeModel(turn, `${samplesTable()}${REFERENCES}`);
}
