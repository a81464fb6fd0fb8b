import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
// Below node_modules, so that the packages are found.
const app = await mkdtemp(join(root, 'node_modules/.image-'));
afterAll(() => rm(app, { recursive: true, force: true }));
await run(
  process.execPath,
  [join(root, 'node_modules/rolldown/bin/cli.mjs'), '-c', 'rolldown.config.ts', '--dir', join(app, 'dist')],
  { cwd: root },
);
await cp(join(root, 'package.json'), join(app, 'package.json'));
const call = (...args: string[]) => run(process.execPath, args, { cwd: app, env: {} });

test('the code that the image holds loads, and lists its settings and where to get each token', async () => {
  const { stdout } = await call('dist/main.js', '--help');
  expect(stdout).toContain('SLACK_BOT_TOKEN (required)');
  expect(stdout).toContain('AGENT_API_KEY (required)');
  expect(stdout).toContain('DRAIN_SECONDS (8)');
  expect(stdout).toContain('Get it from: api.slack.com/apps, your app, "OAuth & Permissions"');
});

test('a command says how it is called in the image', async () => {
  const { stdout } = await call('dist/operate/audit.js', '--help');
  expect(stdout).toContain('Usage: node dist/operate/audit.js --since');
});
