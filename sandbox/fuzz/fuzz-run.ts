import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { startAgentService } from '../agent/agent-service.ts';
import { compileCacheSettings, startBotProcess } from '../bot-process.ts';
import { limitsSetting, serviceSettings } from '../bot-settings.ts';
import { HeapCollector, openHeapMonitor } from '../heap-collector.ts';
import { connectionUrl, startPostgresServer, withClient } from '../postgres-server.ts';
import { seededRandom, startSlackWorkspace } from '../slack/slack-workspace.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { secondsSince } from '../wait-until.ts';
import { type FuzzCase, fuzzCases, SILENT_CHANNEL_PREFIX, sendByHttp, sendBySocket } from './fuzz-case.ts';
import type { FuzzOptions } from './fuzz-options.ts';
import { HonestConversation, honestScript } from './honest-conversations.ts';

/** Concurrent requests on each transport. */
const CONCURRENCY = 40;
/** How much the heap may grow (MiB). */
const MAX_HEAP_GROWTH_MIB = 16;

/** Performs one run and cleans up after it. `onProgress` receives progress messages; the report is printed as JSON. */
export async function runFuzz(
  { events, seed, database: given, heapSamples = 12, questions: questionCount = 10 }: FuzzOptions,
  onProgress: (line: string) => void = () => undefined,
) {
  await using undo = new AsyncDisposableStack();
  const began = performance.now();
  const setup = await prepare(seed, given, undo);
  const { slack, http, socket, database } = setup;
  const processes = [http, socket];
  const identities = { workspace: slack.team.id, botUser: slack.bot.userId, botId: slack.bot.botId };
  const stream = fuzzCases(identities, seededRandom(seed));
  const statuses: Record<string, number> = {};
  /** One sentence for each problem. */
  const harm: string[] = [];
  /** Real questions of real people, which the bot must still answer. */
  const questions: { conversation: HonestConversation; answered: Promise<void> }[] = [];
  const looks = { everyMs: 250, after: () => Promise.all(processes.map(({ bot }) => answerOf(bot.port))) };
  let sent = 0;
  const half = Math.ceil(events / 2);
  const isEach = (number: number, times: number) => number % Math.ceil(events / times) === 0;
  const work = async (transport: { left: number }, send: (next: FuzzCase) => Promise<void>) => {
    while (transport.left > 0 && processes.every(({ bot }) => bot.alive)) {
      transport.left -= 1;
      const { value, done } = stream.next();
      if (done === true) return;
      sent += 1;
      const number = sent;
      if (isEach(number, heapSamples))
        await Promise.all(processes.map(({ memory }) => memory.sample())).catch(() => undefined);
      if (isEach(number, questionCount)) {
        const conversation = new HonestConversation(slack, setup.agent, slack.team.id, looks);
        questions.push({ conversation, answered: conversation.run(() => true) });
        onProgress(`${number} events after ${secondsSince(began)} s`);
      }
      await send(value);
    }
  };
  const remaining = { http: { left: half }, socket: { left: events - half } };
  const byHttp = async (next: FuzzCase) => {
    const sending = () => sendByHttp(http.bot.port ?? 0, slack.signingSecret, next);
    // As Slack does: a server may close a connection in the moment in which a request leaves.
    const again = sending().catch(sending).catch(sending);
    const answer = await again.catch((error: unknown) => {
      harm.push(`no HTTP response (${causeOf(error)}) to ${shortened(next)}`);
    });
    if (answer === undefined) return;
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    // 503: the database was too slow on a busy machine; the event is kept, and Slack would send it again.
    if (answer.status >= 500 && answer.status !== 503)
      harm.push(`response ${answer.status} to ${shortened(next)}`);
    if (answer.unsigned && answer.status !== 401)
      harm.push(`accepted despite its ${next.signature} signature: ${shortened(next)}`);
  };
  const bySocket = (next: FuzzCase) => sendBySocket(slack, next);
  await Promise.all(
    Array.from({ length: CONCURRENCY }, () => [
      work(remaining.http, byHttp),
      work(remaining.socket, bySocket),
    ]).flat(),
  );
  await Promise.all(questions.map(({ answered }) => answered));
  harm.push(...questions.flatMap(({ conversation }) => conversation.harm));
  for (const { name, bot, memory } of processes) {
    if (memory.growthMiB() > MAX_HEAP_GROWTH_MIB)
      harm.push(`the heap grew by ${memory.growthMiB()} MiB (${name})`);
    if (!bot.alive) harm.unshift(`the process ended (${name}): ${await fatalLogLines(bot.logFile)}`);
  }
  harm.push(...(await unexpectedRows(database)));
  for (const { name, bot, memory } of processes) {
    // A process waits for its debugger before it ends.
    memory.close();
    if (!(await bot.stop())) harm.push(`the process did not shut down in time (${name})`);
  }
  return {
    ...{ fuzz: 'events', events, seed, seconds: secondsSince(began) },
    /** Responses of the HTTP receiver, by status. */
    statuses,
    heapGrowthMiB: { http: http.memory.growthMiB(), socket: socket.memory.growthMiB() },
    /** Real questions asked between the events, and how many of them were answered. */
    questions: questions.length,
    answered: questions.filter(({ conversation }) => conversation.harm.length === 0).length,
    harm,
  };
}

async function prepare(seed: number, given: FuzzOptions['database'], undo: AsyncDisposableStack) {
  const folder = await temporaryFolder(undo);
  const database = given ?? (await startPostgresServer(join(folder, 'data'), undo)).connection;
  const random = seededRandom(seed);
  const slack = await startSlackWorkspace({ limits: 'off', ackTimeoutMs: 1_000, retryScale: 0.1, random });
  undo.defer(() => slack.stop());
  const agent = await startAgentService({ script: honestScript, pace: 0.02 });
  undo.defer(() => agent.stop());
  const shared = {
    ...(await compileCacheSettings(join(folder, 'compiled'))),
    SLACK_BOT_TOKEN: slack.botToken,
    ...HeapCollector.environment,
    DATABASE_URL: connectionUrl(database),
  };
  const start = async (name: 'http' | 'socket') => {
    const limits = limitsSetting({ editsPerMinute: 3_000 });
    const settings = { ...shared, ...serviceSettings(slack, agent, name), ...limits };
    const bot = await startBotProcess(settings, join(folder, `${name}.log`), undo);
    const memory = await openHeapMonitor(bot.port ?? 0, bot.logFile);
    undo.defer(async () => memory.close());
    return { name, bot, memory };
  };
  const http = await start('http');
  const socket = await start('socket');
  return { slack, agent, http, socket, database };
}

/** Waits until a process and its database answer, or say that they do not. */
async function answerOf(port: number | undefined): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
  await response?.body?.cancel();
}

/** The log lines that show why a process ended. */
async function fatalLogLines(log: string): Promise<string> {
  const lines = (await readFile(log, 'utf8')).split('\n');
  const fatal = lines.filter((line) => line.includes('"level":"fatal"') || !line.startsWith('{'));
  return fatal.slice(-20).join('\n').slice(0, 4_000);
}

/** Reports rows of events that must have no effect. */
function unexpectedRows(connection: pg.ClientConfig): Promise<string[]> {
  return withClient(connection, async (client) => {
    const found: string[] = [];
    for (const table of ['messages', 'threads', 'turns', 'posts', 'projects']) {
      const { rows } = await client.query<{ channel: string }>(
        `select channel from ${table} where channel like $1 or workspace = 'TSTRANGER' limit 5`,
        [`${SILENT_CHANNEL_PREFIX}%`],
      );
      found.push(
        ...rows.map(
          ({ channel }) => `${table} has a row for an event in ${channel}, which must have no effect`,
        ),
      );
    }
    return found;
  });
}

function causeOf(error: unknown): string {
  return error instanceof Error ? `${error.message}: ${String(error.cause)}` : String(error);
}

function shortened({ body }: FuzzCase): string {
  return (typeof body === 'string' ? body : JSON.stringify(body)).slice(0, 400);
}
