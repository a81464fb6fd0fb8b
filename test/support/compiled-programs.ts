import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { compileCacheSettings } from '../../sandbox/bot-process.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** As deep as the folders of `src`: the code finds package.json from there. */
const folder = path.join(root, 'dist', 'tests');
const BROKEN_BOTS = ['adoption', 'inbox', 'post-intent', 'send-intent'] as const;

/** A bot of which one part is replaced by a broken one. */
export type BrokenBot = (typeof BROKEN_BOTS)[number];

/** The program of a broken bot. */
export function brokenBotProgram(bot: BrokenBot): string {
  return path.join(folder, `${bot}.js`);
}

/** The program of a next release: this one with one migration more. */
export const NEXT_RELEASE = path.join(folder, 'next-release.js');

/** The environment of a program that is to use what is compiled already. */
export function compileCache(): { NODE_COMPILE_CACHE: string } {
  return { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '' };
}

/**
 * The bot's code becomes one file for all processes of the run, which then start in half the time. All code is compiled
 * once, also for the workers that run the tests.
 */
export default async function setup(project: TestProject): Promise<void> {
  await bundle();
  project.onTestsRerun(bundle);
  process.env.BOT_PROGRAM = path.join(folder, 'main.js');
  const cache = await mkdtemp(path.join(tmpdir(), 'taskthread-compiled-'));
  Object.assign(process.env, await compileCacheSettings(cache));
  const imports = ['sandbox/interactive-sandbox.ts', 'sandbox/in-process-sandbox.ts'];
  const flags = imports.flatMap((file) => ['--import', pathToFileURL(`${root}${file}`).href]);
  await promisify(execFile)(process.execPath, [...flags, '--eval', '']);
}

async function bundle(): Promise<void> {
  // Tests import this file too, and need no bundler.
  const { build } = await import('rolldown');
  const broken = BROKEN_BOTS.map((bot) => [bot, `${root}test/sandbox/chaos/broken/${bot}.ts`]);
  await build({
    input: {
      main: `${root}src/main.ts`,
      'next-release': `${root}test/support/next-release.ts`,
      ...Object.fromEntries(broken),
    },
    platform: 'node',
    logLevel: 'silent',
    output: { dir: folder, format: 'esm', cleanDir: true },
  });
}
