import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { startDatabase } from '../src/sandbox/database.ts';
import { Child } from './child.ts';
import { rounded } from './figures.ts';
import { asked, characters, counts, memory, took, whereabouts, workspaces } from './scale/terms.ts';

/**
 * Reads a second that each key allows. The default, 20, would be a fifth of 100 replies a key to the last read, so that
 * the least delay would show as a rate that is not kept; with a quarter more there is room to see whether it is.
 */
const readsPerSecond = 25;
/** How long (ms) what the replies left is given to go: idle connections, timers. */
const restMs = 6_000;
/** Without the second, collections would throw away compiled code that idle replies need again, megabytes of it. */
const relayFlags = ['--expose-gc', '--no-flush-bytecode'];
/** A pause (ms) between the start of the growth and the look at it. */
const settleMs = 3_000;
/** Questions that wait to be answered at most, while more are asked. */
const mostWaiting = 100;
const patienceMs = 20 * 60_000;

/** What one size took. */
interface ScaleFigures {
  replies: number;
  bytesPerReply: number;
  cpuMsPerReplyMinute: number;
  readsPerSecond: number;
  editsPerSecond: number;
  cpuPercent: number;
  throttled: number;
}

/** Many live replies in one process. `--replies` and `--seconds` of the look; the last line is JSON. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      replies: { type: 'string', default: '100,1000,4000' },
      seconds: { type: 'string', default: '25' },
    },
  });
  const sizes = values.replies.split(',').map(Number);
  console.log(`${characters} characters each, ${workspaces} workspaces, each with its own service key`);
  const figures: ScaleFigures[] = [];
  for (const replies of sizes) {
    const measured = await measure(replies, Number(values.seconds));
    console.log(JSON.stringify(measured));
    figures.push(measured);
  }
  console.table(figures);
  console.log(
    JSON.stringify({
      bench: 'scale',
      replies: sizes,
      bytesPerReply: figures.map(({ bytesPerReply }) => bytesPerReply),
      cpuMsPerReplyMinute: figures.map(({ cpuMsPerReplyMinute }) => cpuMsPerReplyMinute),
      readsPerSecond: figures.map((of) => of.readsPerSecond),
    }),
  );
}

async function measure(replies: number, seconds: number): Promise<ScaleFigures> {
  await using undo = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'taskthread-scale-'));
  undo.defer(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o711);
  const { url: databaseUrl } = await startDatabase(join(folder, 'data'), undo, { fsync: true });
  const scenery = new Child(new URL('scale/scenery.ts', import.meta.url));
  undo.defer(() => scenery.kill());
  const relay = new Child(new URL('scale/relay.ts', import.meta.url), relayFlags);
  undo.defer(() => relay.kill());

  const nothing = z.unknown();
  const where = await scenery.ask('where', null, whereabouts);
  await relay.ask('start', { where, databaseUrl, readsPerSecond }, nothing);
  const ask = async (count: number, text: string, from = 0) =>
    relay.ask('accept', await scenery.ask('ask', { count, text, from }, z.array(asked)), nothing);
  // Whole replies in each workspace first, so that what is measured is not the compiling of code.
  await ask(workspaces * 3, 'warm-up');
  await relay.ask('idle', null, nothing);

  const began = performance.now();
  const deadline = began + patienceMs;
  for (let count = 0; ; ) {
    const { begun } = await scenery.ask('counts', null, counts);
    if (begun >= replies) break;
    const more = Math.min(replies - count, mostWaiting - (count - begun));
    if (more > 0) await ask(more, 'question', count);
    count += more;
    if (performance.now() > deadline) throw new Error(`Only ${begun} of ${replies} replies began in time.`);
    await sleep(250);
  }
  console.log(`${replies} replies live after ${rounded((performance.now() - began) / 1_000, 1)} s`);

  await scenery.ask('grow', { ms: seconds * 1_000 + settleMs }, nothing);
  await sleep(settleMs);
  const [from, fromCounts] = [await relay.ask('took', null, took), await scenery.ask('counts', null, counts)];
  await sleep(seconds * 1_000);
  const [to, toCounts] = [await relay.ask('took', null, took), await scenery.ask('counts', null, counts)];
  const live = await relay.ask('memory', null, memory);
  if (to.held !== replies) throw new Error(`Of ${replies} replies ${to.held} are live at the end.`);
  // The same process with none: what it compiled and opened by now is in both.
  await relay.ask('stop', null, nothing);
  await sleep(restMs);
  const none = await relay.ask('memory', null, memory);
  const passed = (to.at - from.at) / 1_000;
  const cpuMs = to.cpuMs - from.cpuMs;
  return {
    replies,
    bytesPerReply: Math.round((live.bytes - none.bytes) / replies),
    cpuMsPerReplyMinute: rounded(cpuMs / replies / (passed / 60)),
    readsPerSecond: rounded((toCounts.reads - fromCounts.reads) / passed, 1),
    editsPerSecond: rounded((toCounts.edits - fromCounts.edits) / passed, 1),
    cpuPercent: rounded(cpuMs / passed / 10, 0),
    throttled: toCounts.refused,
  };
}
