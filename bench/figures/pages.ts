import { readFile, writeFile } from 'node:fs/promises';
import { type Figure, type Run, shownBar, shownValue } from './figure.ts';
import { figureValue, type Measured, type Results, readResults, verdict } from './results.ts';
import { RUNS } from './runs.ts';

const root = new URL('../../', import.meta.url);

/** The pages with figures. */
export const PAGES = ['README.md', 'docs/measurements.md', 'docs/capacity.md'];

/** A block of figures in a page: all that stands between its two comments is written here. */
const BLOCK = /(<!-- figures: ([\w-]+)(?: (.*?))? -->\n)[\s\S]*?(<!-- \/figures -->)/g;
/** A figure within a sentence: `<!-- figure live-30.doneLagP95Seconds -->5.1 s<!-- / -->`. */
const INLINE = /(<!-- figure ([\w-]+)\.([\w.]+) -->)[^<]*(<!-- \/ -->)/g;

/** The kinds of blocks, by name. */
const BLOCKS: Readonly<Record<string, (results: Results) => string>> = {
  all: allFigures,
  peers: peersTable,
  live: liveTable,
  database: (results) => runTable('database', results),
  machine: machineLine,
};

/** The page with the figures of these results. Throws if it asks for a block or a figure that there is not. */
export function withFigures(page: string, results: Results): string {
  return page
    .replace(BLOCK, (_, begin: string, name: string, __, end: string) => {
      const block = BLOCKS[name];
      if (block === undefined) throw new Error(`There is no block of figures ${name}.`);
      return `${begin}${block(results)}\n${end}`;
    })
    .replace(INLINE, (_, begin: string, name: string, field: string, end: string) => {
      const { run, figure } = figureAt(name, field);
      return `${begin}${shownValue(figure, figureValue(results[run.name], figure))}${end}`;
    });
}

/** The page without its figures: what is left was written by hand. */
export function withoutFigures(page: string): string {
  return page.replace(BLOCK, '').replace(INLINE, '');
}

/** Writes the figures of the last results into the pages. */
export async function writePages(): Promise<void> {
  const results = await readResults();
  for (const path of PAGES) {
    const file = new URL(path, root);
    await writeFile(file, withFigures(await readFile(file, 'utf8'), results));
  }
}

function figureAt(name: string, field: string): { run: Run; figure: Figure } {
  const run = RUNS.find((one) => one.name === name);
  const figure = run?.figures.find((one) => one.field === field);
  if (run === undefined || figure === undefined) throw new Error(`There is no figure ${name}.${field}.`);
  return { run, figure };
}

function shown(results: Results, name: string, field: string): string {
  const { run, figure } = figureAt(name, field);
  return shownValue(figure, figureValue(results[run.name], figure));
}

function commandOf({ command, seedOption }: Run): string {
  return `\`npm run ${command.join(' ')}${seedOption === undefined ? '' : ` ${seedOption} …`}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}

function allFigures(results: Results): string {
  const rows = RUNS.flatMap((run) =>
    run.figures.flatMap((figure) => {
      const measured = results[run.name];
      const held = verdict(run, measured, figure);
      if (measured === undefined || held === undefined) return [];
      const value = shownValue(figure, figureValue(measured, figure));
      return [{ run, figure, value: held ? value : `**${value}**` }];
    }),
  );
  return table(
    ['what', 'figure', 'bar', 'command'],
    rows.map(({ run, figure, value }, index) => {
      const isFirst = rows[index - 1]?.run !== run;
      return [
        `${isFirst ? run.what : 'the same'}: ${figure.what}`,
        value,
        shownBar(figure),
        isFirst ? commandOf(run) : '',
      ];
    }),
  );
}

function runTable(name: string, results: Results): string {
  const run = RUNS.find((one) => one.name === name);
  return table(
    ['what', 'figure'],
    (run?.figures ?? []).map((figure) => [
      figure.what,
      shownValue(figure, figureValue(results[name], figure)),
    ]),
  );
}

function peersTable(results: Results): string {
  const lag = (bot: string) => shown(results, 'peers', `${bot}.doneLagP95Seconds`);
  return table(
    ['bot', 'whole text in the thread after'],
    [
      ['Taskthread', lag('ours')],
      ['Chat SDK, editing', lag('chatSdkEdit')],
      ['Chat SDK, streaming', lag('chatSdkNative')],
      [
        "Bolt's stream, its buffer tuned to exactly this load; for one person, and for five minutes at most",
        lag('boltSayStream'),
      ],
    ],
  );
}

function liveTable(results: Results): string {
  const runs = RUNS.filter(({ name }) => /^live-\d+$/.test(name));
  return table(
    ['replies at once', 'whole text in the thread after', 'command'],
    runs.map((run) => [
      run.what.replace(' replies', '').replace(' at once', ''),
      shown(results, run.name, 'doneLagP95Seconds'),
      commandOf(run),
    ]),
  );
}

function machineLine(results: Results): string {
  const all = Object.values(results);
  const list = (of: (one: Measured) => string) => [...new Set(all.map(of))].sort().join(', ');
  return `Measured on ${list(({ cores }) => `${cores}`)} cores with Node ${list(({ node }) => node)}, on ${list(({ date }) => date)}.`;
}
