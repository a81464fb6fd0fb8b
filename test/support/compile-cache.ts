import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { compileCacheSettings } from '../../sandbox/bot-process.ts';

/** The environment of a program that is to use what is compiled already. */
export function compileCache(): { NODE_COMPILE_CACHE: string } {
  return { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '' };
}

/** The bot's code is compiled once for all processes of the run, also for the workers that run the tests. */
export default async function setup(): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'taskthread-compiled-'));
  Object.assign(process.env, await compileCacheSettings(folder));
}
