import { execFile } from 'node:child_process';
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs, promisify } from 'node:util';
import { runCommand, UsageError } from '../../src/operate/command-runner.ts';
import { type Run, shownBar, shownValue } from './figure.ts';
import { writePages } from './pages.ts';
import { figureValue, type Measured, printedValues, readResults, verdict, writeResults } from './results.ts';
import { runOnce } from './run-process.ts';
import { RUNS, touchedRuns } from './runs.ts';

const USAGE = 'npm run figures [-- [NAME ...] [--since COMMIT] [--list] [--write]]';
const HELP = `Usage: ${USAGE}

Measures every figure that the pages quote, or those of the named runs, one after another, for some two and a half hours. Prints each with
its bar, and last one line of JSON. The results are kept in bench/figures/results.json. Exit code 1: some figure falls short.

  --since COMMIT  only the runs that the files changed since this commit can touch
  --list          only print the runs and how long they take
  --write         only write the figures of the last results into the pages

Runs: ${RUNS.map(({ name }) => name).join(', ')}`;

/** Above this load for each core, other work shows in the figures. */
const BUSY_LOAD = 0.5;

const execute = promisify(execFile);

await runCommand(HELP, async () => {
  // What a run has started ends with this process.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(130));
  const { values, positionals } = parsedArguments();
  if (values.write) {
    await writePages();
    return 0;
  }
  const runs = await chosenRuns(positionals, values.since);
  printPlan(runs);
  return values.list || (await measureAll(runs)) ? 0 : 1;
});

function parsedArguments() {
  try {
    return parseArgs({
      options: { since: { type: 'string' }, list: { type: 'boolean' }, write: { type: 'boolean' } },
      allowPositionals: true,
    });
  } catch (error) {
    throw new UsageError(USAGE, error instanceof Error ? error.message : String(error));
  }
}

/** The named runs, or all; of these, those that the files changed since a commit can touch. @throws UsageError */
async function chosenRuns(names: readonly string[], since: string | undefined): Promise<readonly Run[]> {
  const unknown = names.filter((name) => !RUNS.some((run) => run.name === name));
  if (unknown.length > 0) throw new UsageError(USAGE, `There is no run ${unknown.join(', ')}.`);
  const named = names.length === 0 ? RUNS : RUNS.filter(({ name }) => names.includes(name));
  if (since === undefined) return named;
  const changed = await git('diff', '--name-only', since, '--').catch(() => {
    throw new UsageError(USAGE, `There is no commit ${since}.`);
  });
  return touchedRuns(named, changed.split('\n'));
}

function printPlan(runs: readonly Run[]): void {
  const minutes = (seconds: number) => Math.ceil(seconds / 60);
  for (const { name, what, seconds, times = 1 } of runs)
    console.log(`${name.padEnd(16)} ${String(minutes(seconds * times)).padStart(3)} min  ${what}`);
  const all = runs.reduce((sum, { seconds, times = 1 }) => sum + seconds * times, 0);
  console.log(`${runs.length} runs, about ${minutes(all)} minutes`);
}

/** Measures and judges one run after another; whether every figure holds. Each result is kept at once. */
async function measureAll(runs: readonly Run[]): Promise<boolean> {
  const results = { ...(await readResults()) };
  for (const run of runs) {
    results[run.name] = await measure(run);
    await writeResults(results);
  }
  const rows = runs.flatMap((run) => judged(run, results[run.name]));
  console.table(rows);
  const short = rows.filter(({ held }) => held === 'no').map(({ run, figure }) => `${run}: ${figure}`);
  console.log(JSON.stringify({ figures: rows.length, short }));
  return short.length === 0;
}

async function measure(run: Run): Promise<Measured> {
  warnOfLoad();
  const outcomes = [];
  for (let count = 0; count < (run.times ?? 1); count += 1) outcomes.push(await runOnce(run));
  const values = outcomes.map(({ line }) => printedValues(run, line));
  const seeds = outcomes.flatMap(({ seed }) => seed ?? []);
  const failed = outcomes.find(({ exitCode }) => exitCode !== 0);
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: await commit(),
    cores: availableParallelism(),
    node: process.versions.node,
    seconds: outcomes.reduce((sum, { seconds }) => sum + seconds, 0),
    exitCode: failed === undefined ? 0 : failed.exitCode,
    ...(seeds.length === 0 ? {} : { seeds }),
    values: Object.fromEntries(
      run.figures.map(({ field }) => [field, values.map((line) => line[field] ?? null)]),
    ),
  };
}

function warnOfLoad(): void {
  const [load = 0] = loadavg();
  if (load > BUSY_LOAD * availableParallelism())
    console.log(
      `\nThe machine is busy: its load is ${load.toFixed(1)}. Speeds will look worse than they are.`,
    );
}

/** The commit that is measured; with a plus if files differ from it. */
async function commit(): Promise<string> {
  const [hash, changed] = [
    await git('rev-parse', '--short', 'HEAD'),
    await git('status', '--porcelain', '-uno'),
  ];
  const isOwn = changed
    .split('\n')
    .every((line) => line === '' || line.endsWith('bench/figures/results.json'));
  return `${hash.trim()}${isOwn ? '' : '+'}`;
}

async function git(...words: string[]): Promise<string> {
  return (await execute('git', words)).stdout;
}

function judged(run: Run, measured: Measured | undefined) {
  return run.figures.map((figure) => {
    const held = verdict(run, measured, figure);
    return {
      run: run.name,
      figure: figure.what.slice(0, 70),
      value: shownValue(figure, figureValue(measured, figure)),
      bar: shownBar(figure),
      held: held === undefined ? `needs ${run.needs}` : held ? 'yes' : 'no',
    };
  });
}
