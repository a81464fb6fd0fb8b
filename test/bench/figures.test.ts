import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { isHeld, type Run, shownBar, shownValue } from '../../bench/figures/figure.ts';
import { PAGES, withFigures } from '../../bench/figures/pages.ts';
import {
  figureValue,
  type Measured,
  printedValues,
  readResults,
  verdict,
} from '../../bench/figures/results.ts';
import { runOnce } from '../../bench/figures/run-process.ts';
import { RUNS, touchedRuns } from '../../bench/figures/runs.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

const speed = { field: 'lag.p95', what: 'delay', unit: 's', bar: { atMost: 2 } } as const;
const whole = { field: 'equal', what: 'it is whole', bar: { is: true } } as const;
const run: Run = {
  name: 'some',
  what: 'Something',
  command: ['demo', '--', '--help'],
  seconds: 20,
  dependsOn: ['src/render'],
  figures: [speed, whole],
};
const measured = (values: Measured['values'], exitCode = 0): Measured => ({
  ...{ date: '2026-11-28', commit: 'abc', cores: 2, node: '24.5.0', seconds: 1, exitCode },
  values,
});

describe.each(RUNS)('$name', ({ name, command, dependsOn }) => {
  test('has a name of its own, a command that is there, and depends on files that are there', () => {
    expect(RUNS.filter((one) => one.name === name)).toHaveLength(1);
    const { scripts } = z
      .looseObject({ scripts: z.record(z.string(), z.string()) })
      .parse(JSON.parse(read('package.json')));
    expect(Object.keys(scripts)).toContain(command[0]);
    expect(dependsOn.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  });
});

describe('a figure', () => {
  test.each([
    [2, { atMost: 2 }, true],
    [2.1, { atMost: 2 }, false],
    [0.9, { atLeast: 0.9 }, true],
    [0.8, { atLeast: 0.9 }, false],
    [0, { is: 0 }, true],
    [1, { is: 0 }, false],
    [false, { is: true }, false],
    [null, { atMost: 2 }, false],
    [undefined, { is: 0 }, false],
    [undefined, { shown: 'only' }, true],
  ] as const)('of %s with the bar %o holds: %s', (value, bar, held) => {
    expect(isHeld(value, bar)).toBe(held);
  });

  test('is read from the last line of its run, and is missing where that says nothing', () => {
    expect(printedValues(run, '{"lag":{"p95":1.5},"equal":true}')).toEqual({ 'lag.p95': 1.5, equal: true });
    expect(printedValues(run, '{"lag":null}')).toEqual({ 'lag.p95': null, equal: null });
    expect(printedValues(run, 'Error: no database')).toEqual({ 'lag.p95': null, equal: null });
  });

  test('is the median of its runs; one run without a number spoils it', () => {
    expect(figureValue(measured({ 'lag.p95': [3, 1, 2] }), speed)).toBe(2);
    expect(figureValue(measured({ 'lag.p95': [3, null, 2] }), speed)).toBeNull();
    expect(figureValue(measured({ equal: [true, false, true] }), whole)).toBe(false);
    expect(figureValue(measured({ equal: [true] }), whole)).toBe(true);
    expect(figureValue(undefined, speed)).toBeUndefined();
  });

  test('falls short if its command failed, whatever it printed', () => {
    expect(verdict(run, measured({ 'lag.p95': [1] }), speed)).toBe(true);
    expect(verdict(run, measured({ 'lag.p95': [1] }, 1), speed)).toBe(false);
    expect(verdict(run, undefined, speed)).toBe(false);
  });

  test('is neither held nor short where the machine lacks what its run needs', () => {
    const needy = { ...run, needs: 'a container engine' };
    expect(verdict(needy, measured({ 'lag.p95': [null] }), speed)).toBeUndefined();
    expect(verdict(needy, measured({ 'lag.p95': [null] }, 1), speed)).toBe(false);
  });

  test('is shown with its unit, and its bar in words', () => {
    expect([shownValue(speed, 1.234), shownBar(speed)]).toEqual(['1.23 s', 'at most 2 s']);
    expect([shownValue(speed, 41_234), shownValue(speed, null)]).toEqual(['41,234 s', 'never']);
    expect([shownValue(whole, true), shownBar(whole)]).toEqual(['yes', 'yes']);
  });
});

test.each(PAGES)('%s shows the last results, and nothing that was not measured', async (page) => {
  expect(read(page)).toBe(withFigures(read(page), await readResults()));
});

test('a page that asks for a figure that there is not is refused', () => {
  expect(() => withFigures('<!-- figure ack.speed -->1<!-- / -->', {})).toThrow('no figure ack.speed');
  expect(() => withFigures('<!-- figures: others -->\n<!-- /figures -->', {})).toThrow(
    'no block of figures others',
  );
});

test('the runs are those that the changed files can touch', () => {
  const names = (...changed: string[]) => touchedRuns(RUNS, changed).map(({ name }) => name);
  expect(names('docs/admins.md')).toEqual([]);
  expect(names('setup/connect.ts')).toEqual(['connect']);
  expect(names('src/render/blocks/slack-blocks.ts')).toContain('render');
  expect(names('src/store/store.ts')).not.toContain('render');
  expect(names('src/store/store.ts')).toContain('chaos-kills');
});

test('a run passes its last line on, and how it ended', async () => {
  expect(await runOnce(run)).toMatchObject({ line: expect.stringContaining('Exit code'), exitCode: 0 });
  expect(await runOnce({ ...run, command: ['demo', '--', '--jsno'] })).toMatchObject({ exitCode: 2 });
});

test('a run with randomness has a fresh seed each time', async () => {
  const seeded: Run = { ...run, seedOption: '--seed' };
  const outcomes = [await runOnce(seeded), await runOnce(seeded)];
  expect(new Set(outcomes.map(({ seed }) => seed)).size).toBe(2);
});

test('a run that does not end is ended, with all that it started', async () => {
  const outcome = await runOnce({ ...run, command: ['sandbox', '--', '--port', '0'], seconds: 0.5 });
  expect(outcome).toMatchObject({ exitCode: null });
});
