import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { BASELINE } from '../../src/store/migrations.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (name: string) => readFileSync(join(root, name), 'utf8');
const { version } = z.object({ version: z.string() }).parse(JSON.parse(read('package.json')));
const isReleased = /^## \[\d/m.test(read('CHANGELOG.md'));

/** What the release workflow's check says of a tag, after the steps of CONTRIBUTING.md, but for those left out. */
async function notesOf(tag: string, leftOut: 'nothing' | 'the section' | 'the baseline' = 'nothing') {
  const folder = await mkdtemp(join(tmpdir(), 'taskthread-release-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const write = async (name: string, text: string) => {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  };
  await cp(join(root, '.ci/notes.mjs'), join(folder, '.ci/notes.mjs'));
  await write('package.json', read('package.json'));
  const section = leftOut === 'the section' ? '[Unreleased]' : `[${version}] - 2026-12-01`;
  await write('CHANGELOG.md', read('CHANGELOG.md').replace('[Unreleased]', section));
  const migrations = read('src/store/migrations.ts');
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a piece of source
  const named = migrations.replace('`0001-baseline-${baseline.FINGERPRINT}`', `'${BASELINE}'`);
  await write('src/store/migrations.ts', leftOut === 'the baseline' ? migrations : named);
  const { stdout } = await run(process.execPath, ['.ci/notes.mjs', tag], { cwd: folder });
  return stdout;
}

test("a release's notes are those of its version in CHANGELOG.md", async () => {
  const notes = await notesOf(`v${version}`);
  expect(notes).toContain('### Added');
  expect(notes).not.toContain('## [');
});

test('a tag of another version, or without one of the steps before it, is refused', async () => {
  await expect(notesOf('v999.0.0')).rejects.toThrow(/has no section[\s\S]*package.json has the version/);
  if (isReleased) return;
  await expect(notesOf(`v${version}`, 'the section')).rejects.toThrow('has no section');
  await expect(notesOf(`v${version}`, 'the baseline')).rejects.toThrow("makes the baseline's name");
});

test('the pages say that nothing is published yet, for as long as CHANGELOG.md has no release', () => {
  const pages = ['README.md', 'docs/install.md', 'docs/operations.md', 'docs/security-review.md'];
  const saying = pages.filter((page) => /there is\s+no\s+release\s+yet/i.test(read(page)));
  expect(saying).toEqual(isReleased ? [] : pages);
});

test('a package would hold the program, and what operators need beside it', async () => {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const { stdout } = await run('npm', args, { cwd: root, maxBuffer: 2 ** 26 });
  // An object by name in the newest npm, else an array.
  const packages = z
    .union([z.array(z.unknown()), z.record(z.string(), z.unknown())])
    .parse(JSON.parse(stdout));
  const [packed] = z
    .array(z.object({ files: z.array(z.object({ path: z.string() })) }))
    .parse(Object.values(packages));
  const paths = packed?.files.map(({ path }) => path) ?? [];
  // What is built is there only after a build.
  expect(paths.filter((path) => !/^dist\/(?!tests\/)/.test(path))).toEqual([
    '.env.example',
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'SECURITY.md',
    'deploy/grafana-dashboard.json',
    'deploy/kubernetes-monitoring.yaml',
    'deploy/kubernetes.yaml',
    'deploy/prometheus-alerts.yaml',
    'deploy/taskthread.service',
    'manifest.yml',
    'package.json',
  ]);
});

test('the image needs no module that is built for one processor, and is built without emulation', () => {
  const entry = z.object({
    dev: z.boolean().optional(),
    optional: z.boolean().optional(),
    cpu: z.array(z.string()).or(z.string()).optional(),
    hasInstallScript: z.boolean().optional(),
  });
  const { packages } = z
    .object({ packages: z.record(z.string(), entry) })
    .parse(JSON.parse(read('package-lock.json')));
  const inImage = Object.entries(packages).filter(([name, one]) => name !== '' && !one.dev && !one.optional);
  expect(inImage.length).toBeGreaterThan(50);
  expect(inImage.filter(([, one]) => one.cpu !== undefined || one.hasInstallScript)).toEqual([]);
  // What runs during the build runs on the builder's processor; the last stage, for each processor, runs nothing.
  const stages = read('Dockerfile')
    .split(/^FROM /m)
    .slice(1);
  const last = stages.pop() ?? '';
  expect(stages.filter((stage) => !stage.startsWith('--platform=$BUILDPLATFORM '))).toEqual([]);
  expect(last).toMatch(/^node:/);
  expect(last).not.toMatch(/^RUN /m);
});
