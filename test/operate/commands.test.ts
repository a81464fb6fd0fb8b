import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { compiledProgram } from '../support/compiled-programs.ts';

/** Runs a command without any settings; resolves to its exit code and its words. */
async function run(file: string, ...options: string[]): Promise<{ code: unknown; words: string }> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [file, ...options], { env: { PATH, NODE_COMPILE_CACHE } });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, words: `${out}${err}` };
}

/** What a command's help must say besides: here, that npm is kept silent. */
const OWN_WORDS = new Map([
  ['audit', /npm run -s audit -- .* \[--summary\]\n\n {2}--summary +prints the usage/],
]);

describe.each([
  ['audit', compiledProgram('src/operate/audit.ts')],
  ['backup', compiledProgram('setup/backup.ts')],
  ['connect', compiledProgram('setup/connect.ts')],
  ['doctor', compiledProgram('src/operate/doctor.ts')],
  ['forget', compiledProgram('src/operate/forget.ts')],
  ['image-check', compiledProgram('sandbox/image-check.ts')],
  ['manifest', compiledProgram('setup/manifest.ts')],
  ['restore', compiledProgram('setup/restore.ts')],
  ['rotate-key', compiledProgram('src/operate/rotate-key.ts')],
])('npm run %s', (command, file) => {
  test('explains itself and its exit codes with --help', async () => {
    const { code, words } = await run(file, '--help');
    expect(code).toBe(0);
    expect(words).toMatch(new RegExp(`Usage: npm run (-s )?${command}`));
    expect(words).toContain('Exit code: 0 if all went well');
    expect(words).toMatch(OWN_WORDS.get(command) ?? 'Usage');
  });
});

test('a command refuses an option that it does not know, with 2', async () => {
  const { code, words } = await run(compiledProgram('src/operate/rotate-key.ts'), '--nonsense');
  expect(code).toBe(2);
  expect(words).toMatch(/'--nonsense'[\s\S]*Usage: npm run/);
});

test('npm run image-check says so where no container engine answers, and exits with 0', async () => {
  const { code, words } = await run(compiledProgram('sandbox/image-check.ts'), '--engine', 'no-engine');
  expect(code).toBe(0);
  expect(words).toContain('No container engine answers');
});
