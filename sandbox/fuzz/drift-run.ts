import { createHash } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { ESSENTIAL_FIELDS } from '../../src/agent/service-schema.ts';
import { connectionUrl } from '../connection-url.ts';
import { type InProcessSandbox, startInProcessSandbox } from '../in-process-sandbox.ts';
import { installApp, setAccount } from '../multi-workspace-bot.ts';
import { startPostgresServer } from '../postgres-server.ts';
import { type DriftCase, driftCases, type RecordedResponse } from './drift-cases.ts';
import { DriftConversation, driftScript } from './drift-conversation.ts';
import { type DriftVerdict, judge } from './drift-harm.ts';
import { DriftingService } from './drifting-service.ts';
import type { DriftOptions } from './fuzz-options.ts';

/** Conversations at once, each in a workspace of its own: a refused key stops all of a workspace. */
const CONVERSATIONS = 40;
/** How much faster than its own the limits of this bot pass. */
const SCALE = 1 / 20;
const ONE_MINUTE_MS = 60_000 * SCALE;
/** What a turn takes where nothing is wrong, on a machine that 40 conversations keep busy. */
const BUSY_MS = 12_000;
const ACCOUNTS_KNOWN_AFTER_MS = 2_000;
const PART_BYTES = 1_000;

/** The outcome of a run; its fields are the keys of the printed JSON. */
export interface DriftReport {
  fuzz: 'drift';
  cases: number;
  /** One sentence for each problem. */
  harm: string[];
  /** The fields and statuses without which an answer or its results do not stand in the thread. */
  answerMissing: string[];
  seconds: number;
}

/** Repeats a conversation with each way in which the service's responses may differ from its document. */
export async function runDrift(
  { seed, cases: most, only, database: given }: DriftOptions,
  onProgress: (line: string) => void = () => undefined,
): Promise<DriftReport> {
  await using undo = new AsyncDisposableStack();
  const began = performance.now();
  const harm: string[] = [];
  watchCrashes((sentence) => harm.push(sentence), undo);
  const sandbox = await startSandbox(given, { isLogged: only !== undefined, most }, undo);
  const play = conversationPlayer(sandbox);
  const recorded: RecordedResponse[] = [];
  onProgress('the service behaves');
  const clean = await play(undefined, 'T1', (response) => recorded.push(structuredClone(response)));
  if (clean.harm.length > 0) throw new Error(`Without any drift: ${clean.harm.join('; ')}`);
  const all = driftCases(recorded);
  const cases = chosen(all, { seed, most, only });
  onProgress(`${cases.length} of ${all.length} cases`);
  const answerMissing = new Set<string>();
  const waiting = cases.values();
  let done = 0;
  const work = async ({ id }: { id: string }) => {
    for (const drifted of waiting) {
      const verdict = await play(drifted, id);
      done += 1;
      if (done % 50 === 0) onProgress(`${done} of ${cases.length} cases`);
      const what = `${drifted.call}.${drifted.field}`;
      if (verdict.isAnswerMissing) answerMissing.add(what);
      if (verdict.isAnswerMissing && !mayMissAnswer(drifted))
        verdict.harm.push('the answer or its results are missing');
      harm.push(...verdict.harm.map((sentence) => `${drifted.name}: ${sentence}`));
      for (const sentence of verdict.harm) onProgress(`${drifted.name}: ${sentence}`);
    }
  };
  await Promise.all(sandbox.slack.teams.map(work));
  return {
    ...{ fuzz: 'drift', cases: cases.length, harm },
    answerMissing: [...answerMissing].sort(),
    seconds: Math.round((performance.now() - began) / 1_000),
  };
}

/** Whether the answer or its results may be missing: without an essential field, or where the message itself is refused. */
function mayMissAnswer({ call, field, drift }: DriftCase): boolean {
  const essential = Object.values(ESSENTIAL_FIELDS).flat();
  if (drift.kind === 'field') return essential.includes(field.split('.').at(-1) ?? '');
  const beforeSend = [
    'POST /projects',
    'POST /experimental/tasks',
    'POST /experimental/tasks/{task_id}/messages',
  ];
  return beforeSend.includes(call) && drift.status >= 400 && drift.status < 500;
}

function chosen(
  all: readonly DriftCase[],
  { seed, most, only }: { seed: number; most: number | undefined; only: string | undefined },
): DriftCase[] {
  if (only !== undefined) return all.filter(({ name }) => `${name}.`.startsWith(`${only}.`));
  if (most === undefined) return [...all];
  // By their names: which cases a sample has does not depend on what else the service happened to send.
  const order = ({ name }: DriftCase) => createHash('sha256').update(`${seed} ${name}`).digest('hex');
  return all.toSorted((a, b) => (order(a) < order(b) ? -1 : 1)).slice(0, most);
}

type PlayCase = (
  drifted: DriftCase | undefined,
  teamId: string,
  onResponse?: (response: RecordedResponse) => void,
) => Promise<DriftVerdict>;

function conversationPlayer(sandbox: InProcessSandbox): PlayCase {
  const service = new DriftingService(sandbox.agent);
  let count = 0;
  return async (drifted, teamId, onResponse) => {
    count += 1;
    const name = `case-${count}`;
    const drift = { drifted, hits: 0, onResponse };
    const end = service.begin(name, drift);
    const conversation = new DriftConversation(sandbox, { teamId, name }, 2 * ONE_MINUTE_MS + BUSY_MS);
    const trace = await conversation.play();
    end();
    const verdict = judge(trace, drifted);
    if (drifted !== undefined && drift.hits === 0) verdict.harm.push('no response was changed');
    if (verdict.harm.length > 0) verdict.harm.push(JSON.stringify(trace.posts).slice(0, 1_500));
    return verdict;
  };
}

function watchCrashes(onCrash: (sentence: string) => void, undo: AsyncDisposableStack): void {
  const crashed = (error: unknown) =>
    onCrash(`the process would have ended: ${error instanceof Error ? error.stack : String(error)}`);
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, crashed);
    undo.defer(() => void process.off(event, crashed));
  }
}

async function startSandbox(
  given: DriftOptions['database'],
  { isLogged, most = CONVERSATIONS }: { isLogged: boolean; most: number | undefined },
  undo: AsyncDisposableStack,
): Promise<InProcessSandbox> {
  const folder = await mkdtemp(join(tmpdir(), 'taskthread-drift-'));
  undo.defer(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o711);
  const database = given ?? (await startPostgresServer(join(folder, 'data'), undo)).connection;
  const count = Math.min(CONVERSATIONS, most);
  const teams = Array.from({ length: count }, (_, at) => ({ id: `T${at + 1}`, name: `T${at + 1}` }));
  const sandbox = await startInProcessSandbox({
    log: pino({ level: isLogged ? 'info' : 'silent' }, process.stderr),
    databaseUrl: connectionUrl(database),
    oauth: true,
    slack: { teams, limits: 'off', shareDelayMs: 0 },
    agent: {
      script: driftScript,
      behaviour: { multipartThreshold: PART_BYTES, partSize: PART_BYTES, minPartSize: PART_BYTES },
    },
    limits: {
      settledTaskMs: ONE_MINUTE_MS,
      refusalMs: ONE_MINUTE_MS,
      badThingMs: 10 * ONE_MINUTE_MS,
      lookAgainMs: ONE_MINUTE_MS,
    },
    settings: {
      RESEND_SECONDS: String((2 * ONE_MINUTE_MS) / 1_000),
      BACKGROUND_WAIT_SECONDS: String(ONE_MINUTE_MS / 1_000),
      SLACK_EDITS_PER_MINUTE: '3000',
      WATCH_SECONDS: '0.3',
      WATCH_MINUTES: '0.2',
    },
  });
  undo.defer(() => sandbox.stop());
  const client = new pg.Client(database);
  await client.connect();
  const install = async ({ id }: { id: string }) => {
    await installApp(sandbox.bot.port, id);
    await setAccount(client, id, sandbox.agent);
  };
  await Promise.all(teams.map(install));
  await client.end();
  await sleep(ACCOUNTS_KNOWN_AFTER_MS);
  return sandbox;
}
