import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { compileCache } from '../support/compiled-programs.ts';

const PROGRAM = `
const { runInterruptible } = await import('./setup/embedded-database.ts');
await runInterruptible(async (signal) => {
  const { promise, resolve } = Promise.withResolvers();
  signal.addEventListener('abort', () => console.log('tidying up'));
  process.stdin.once('data', resolve);
  console.log('began');
  await promise;
  signal.throwIfAborted();
}).catch(({ message }) => console.log(message));
process.exit(3);
`;

test('a second Ctrl+C, as npm passes it on, does not cut off what the first one tidies up', async () => {
  const env = { PATH: process.env.PATH, ...compileCache() };
  const child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], { env });
  onTestFinished(() => void child.kill('SIGKILL'));
  expect(String(await once(child.stdout, 'data'))).toBe('began\n');
  child.kill('SIGINT');
  expect(String(await once(child.stdout, 'data'))).toBe('tidying up\n');
  child.kill('SIGINT');
  child.stdin.write('done\n');
  expect(String(await once(child.stdout, 'data'))).toBe('interrupted. Nothing has changed.\n');
  expect(await once(child, 'exit')).toEqual([3, null]);
});
