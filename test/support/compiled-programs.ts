import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { compileCacheSettings } from '../../sandbox/bot-process.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = path.join(root, 'dist', 'tests');
const BROKEN_BOTS = ['post-intent', 'send-intent'] as const;

/** A bot of which one part is replaced by a broken one. */
export type BrokenBot = (typeof BROKEN_BOTS)[number];

/** The program of a broken bot. */
export function brokenBotProgram(bot: BrokenBot): string {
  return compiledProgram(`test/sandbox/chaos/broken/${bot}.ts`);
}

/** The program of a next release: this one with one migration more. */
export const NEXT_RELEASE = compiledProgram('test/support/next-release.ts');

/** What the tests start as processes of their own. */
const PROGRAMS = [
  'src/main.ts',
  'src/operate/audit.ts',
  'src/operate/doctor.ts',
  'src/operate/forget.ts',
  'src/operate/rotate-key.ts',
  'setup/backup.ts',
  'setup/connect.ts',
  'setup/manifest.ts',
  'setup/restore.ts',
  'sandbox/demo.ts',
  'sandbox/image-check.ts',
  'sandbox/scaled-bot.ts',
  'test/support/next-release.ts',
  'test/support/job-runner-process.ts',
  'test/support/embedded-owner-process.ts',
  'test/support/locked-process.ts',
  'test/support/renewing-process.ts',
  ...BROKEN_BOTS.map((bot) => `test/sandbox/chaos/broken/${bot}.ts`),
];

/** One of the programs that are compiled for the tests; it is what its file is, and loads in a third of the time. */
export function compiledProgram(file: string): string {
  return path.join(folder, file.replace(/ts$/, 'js'));
}

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
  process.env.BOT_PROGRAM = compiledProgram('sandbox/scaled-bot.ts');
  const cache = await mkdtemp(path.join(tmpdir(), 'taskthread-compiled-'));
  Object.assign(process.env, await compileCacheSettings(cache));
  const imports = ['sandbox/interactive-sandbox.ts', 'sandbox/in-process-sandbox.ts'];
  const flags = imports.flatMap((file) => ['--import', pathToFileURL(`${root}${file}`).href]);
  await promisify(execFile)(process.execPath, [...flags, '--eval', '']);
}

async function bundle(): Promise<void> {
  // Tests import this file too, and need no bundler.
  const { build } = await import('rolldown');
  await build({
    input: Object.fromEntries(PROGRAMS.map((file) => [file.replace(/\.ts$/, ''), `${root}${file}`])),
    platform: 'node',
    logLevel: 'silent',
    plugins: [
      {
        name: 'own-place',
        transform: { filter: { code: /import\.meta\.(url|filename|main)/ }, handler: keepPlace },
      },
    ],
    // Half the size: Node reads all of it at each start.
    output: { dir: folder, format: 'esm', cleanDir: true, minify: { compress: false, mangle: false } },
  });
}

/**
 * Code finds other files from where it is written, and what it starts is compiled, too. A program that another one imports
 * lies in a file of both, and yet knows whether it was started.
 */
function keepPlace(code: string, file: string): string {
  const here = pathToFileURL(file).href;
  const program = JSON.stringify(compiledProgram(path.relative(root, file)));
  return code
    .replace(/new URL\('([^']+\.ts)', import\.meta\.url\)/g, (found, target: string) => {
      const started = path.relative(root, fileURLToPath(new URL(target, here)));
      return PROGRAMS.includes(started)
        ? `new URL('${pathToFileURL(compiledProgram(started)).href}')`
        : found;
    })
    .replaceAll('import.meta.main', `(process.argv[1] === ${program})`)
    .replaceAll('import.meta.url', JSON.stringify(here))
    .replaceAll('import.meta.filename', JSON.stringify(file));
}
