import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { startPostgresServer } from '../sandbox/postgres-server.ts';
import { temporaryFolder } from '../sandbox/temporary-folder.ts';
import { ChildProgram } from './child-process.ts';
import {
  addressesSchema,
  countsSchema,
  memorySchema,
  questionSchema,
  REPLY_CHARACTERS,
  usageSchema,
  WORKSPACES,
} from './scale/process-messages.ts';
import { round } from './statistics.ts';

/**
 * Reads per second that each service key allows. The default, 20, is exactly what 100 replies per key need, so that any
 * delay would look like a missed rate; a quarter more leaves room to measure.
 */
const READS_PER_SECOND = 25;
/** How long idle connections and timers of the replies get to end (ms). */
const REST_MS = 6_000;
/** Without `--no-flush-bytecode`, collections drop megabytes of compiled code that idle replies need again. */
const RELAY_FLAGS = ['--expose-gc', '--no-flush-bytecode'];
/** Between the start of the growth and the first measurement (ms). */
const SETTLE_MS = 3_000;
/** The most questions that wait for a reply at one time. */
const MAX_WAITING = 100;
const TIMEOUT_MS = 20 * 60_000;

/** What one number of replies took. */
interface ScaleStats {
  replies: number;
  bytesPerReply: number;
  cpuMsPerReplyMinute: number;
  readsPerSecond: number;
  editsPerSecond: number;
  cpuPercent: number;
  throttled: number;
}

/** Measures many live replies in one process. `--seconds` is the length of a measurement; the last line is JSON. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      replies: { type: 'string', default: '100,1000,4000' },
      seconds: { type: 'string', default: '25' },
    },
  });
  const sizes = values.replies.split(',').map(Number);
  console.log(
    `${REPLY_CHARACTERS} characters per reply, ${WORKSPACES} workspaces, each with its own service key`,
  );
  const stats: ScaleStats[] = [];
  for (const replies of sizes) {
    const measured = await measure(replies, Number(values.seconds));
    console.log(JSON.stringify(measured));
    stats.push(measured);
  }
  console.table(stats);
  console.log(
    JSON.stringify({
      bench: 'scale',
      replies: sizes,
      bytesPerReply: stats.map(({ bytesPerReply }) => bytesPerReply),
      cpuMsPerReplyMinute: stats.map(({ cpuMsPerReplyMinute }) => cpuMsPerReplyMinute),
      readsPerSecond: stats.map(({ readsPerSecond }) => readsPerSecond),
    }),
  );
}

async function measure(replies: number, seconds: number): Promise<ScaleStats> {
  await using undo = new AsyncDisposableStack();
  const folder = await temporaryFolder(undo);
  const { url: databaseUrl } = await startPostgresServer(join(folder, 'data'), undo, { fsync: true });
  const services = new ChildProgram(new URL('scale/services-process.ts', import.meta.url));
  undo.defer(() => services.kill());
  const relay = new ChildProgram(new URL('scale/relay-process.ts', import.meta.url), RELAY_FLAGS);
  undo.defer(() => relay.kill());

  const nothing = z.unknown();
  const where = await services.ask('where', null, addressesSchema);
  await relay.ask('start', { where, databaseUrl, readsPerSecond: READS_PER_SECOND }, nothing);
  const ask = async (count: number, text: string, from = 0) =>
    relay.ask('accept', await services.ask('ask', { count, text, from }, z.array(questionSchema)), nothing);
  // Whole replies in each workspace first, so that the measurement leaves out the compiling of code.
  await ask(WORKSPACES * 3, 'warm-up');
  await relay.ask('idle', null, nothing);

  const began = performance.now();
  const deadline = began + TIMEOUT_MS;
  for (let count = 0; ; ) {
    const { begun } = await services.ask('counts', null, countsSchema);
    if (begun >= replies) break;
    const more = Math.min(replies - count, MAX_WAITING - (count - begun));
    if (more > 0) await ask(more, 'question', count);
    count += more;
    if (performance.now() > deadline) throw new Error(`Only ${begun} of ${replies} replies started in time.`);
    await sleep(250);
  }
  console.log(`${replies} replies are live after ${round((performance.now() - began) / 1_000, 1)} s`);

  await services.ask('grow', { ms: seconds * 1_000 + SETTLE_MS }, nothing);
  await sleep(SETTLE_MS);
  const [from, fromCounts] = [
    await relay.ask('took', null, usageSchema),
    await services.ask('counts', null, countsSchema),
  ];
  await sleep(seconds * 1_000);
  const [to, toCounts] = [
    await relay.ask('took', null, usageSchema),
    await services.ask('counts', null, countsSchema),
  ];
  const live = await relay.ask('memory', null, memorySchema);
  if (to.held !== replies) throw new Error(`Only ${to.held} of ${replies} replies are live at the end.`);
  // The same process without replies: both readings include what it has compiled and opened.
  await relay.ask('stop', null, nothing);
  await sleep(REST_MS);
  const none = await relay.ask('memory', null, memorySchema);
  const passed = (to.at - from.at) / 1_000;
  const cpuMs = to.cpuMs - from.cpuMs;
  return {
    replies,
    bytesPerReply: Math.round((live.bytes - none.bytes) / replies),
    cpuMsPerReplyMinute: round(cpuMs / replies / (passed / 60)),
    readsPerSecond: round((toCounts.reads - fromCounts.reads) / passed, 1),
    editsPerSecond: round((toCounts.edits - fromCounts.edits) / passed, 1),
    cpuPercent: round(cpuMs / passed / 10, 0),
    throttled: toCounts.refused,
  };
}
