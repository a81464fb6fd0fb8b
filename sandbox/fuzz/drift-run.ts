import { join } from 'node:path';
import { pino } from 'pino';
import { type InProcessSandbox, startInProcessSandbox } from '../in-process-sandbox.ts';
import { installApp, setAccount } from '../multi-workspace-bot.ts';
import { connectionUrl, startPostgresServer, withClient } from '../postgres-server.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { secondsSince } from '../wait-until.ts';
import { watchCrashes } from './crash-watch.ts';
import { caseNamed, chosenCases, type DriftCase, driftCases, type RecordedResponse } from './drift-cases.ts';
import { DriftConversation, driftScript } from './drift-conversation.ts';
import { ANSWER_FIELDS, fieldOf, mayMissAnswer } from './drift-essentials.ts';
import { judge } from './drift-harm.ts';
import { DriftingService } from './drifting-service.ts';
import type { DriftOptions } from './fuzz-options.ts';

/** Conversations at once, each in a workspace of its own: a refused key stops all of a workspace. */
const CONVERSATIONS = 40;
/** How much faster than its own the limits of this bot pass. */
const SCALE = 1 / 20;
const ONE_MINUTE_MS = 60_000 * SCALE;
/**
 * A turn may take two minutes, each with the pauses before its last try, which are not scaled (ms), and so many times what one
 * takes meanwhile in a conversation where nothing is wrong.
 */
const MAX_TURN_MS = 2 * (ONE_MINUTE_MS + 4_000);
const MAX_HONEST_TURNS = 2;
/**
 * The limits are scaled, and the machine is not: what is wrong beside others, where it may be late, is harm only if it is
 * wrong in each of so many plays by itself.
 */
const MAX_REPEATS = 3;
/** The workspace in which the service behaves. It has no account of its own, so no refused key stops it. */
const HONEST_TEAM = 'T0';
const PART_BYTES = 1_000;

/** Repeats a conversation with each way in which the service's responses may differ from its document. */
export async function runDrift(
  { seed, cases: most, only, names, database: given }: DriftOptions,
  onProgress: (line: string) => void = () => undefined,
) {
  await using undo = new AsyncDisposableStack();
  const began = performance.now();
  const harm: string[] = [];
  const onHarm = (sentence: string) => {
    harm.push(sentence);
    onProgress(sentence);
  };
  watchCrashes(onHarm, undo);
  const asked = { isLogged: only !== undefined, most: names?.length ?? most };
  const started = await startSandbox(given, asked, undo);
  const { sandbox } = started;
  const play = conversationPlayer(started);
  const honestMs: number[] = [];
  /** What is to be played again by itself. */
  const suspects: { drifted: DriftCase | undefined; id: string }[] = [];
  const playHonestly = async (onResponse?: (response: RecordedResponse) => void) => {
    const { verdict, turnMs } = await play(undefined, HONEST_TEAM, onResponse);
    if (verdict.harm.length > 0) suspects.push({ drifted: undefined, id: HONEST_TEAM });
    honestMs.push(...turnMs);
  };
  const allCases = async () => {
    const recorded: RecordedResponse[] = [];
    onProgress('the service behaves');
    await playHonestly((response) => recorded.push(structuredClone(response)));
    return driftCases(recorded);
  };
  const cases = names?.map(caseNamed) ?? chosenCases(await allCases(), { seed, most, only });
  onProgress(`${cases.length} cases`);
  const answerMissing = new Set<string>();
  const harmOf = async (drifted: DriftCase | undefined, teamId: string) => {
    const { verdict, turnMs } = await play(drifted, teamId);
    const mostMs = MAX_TURN_MS + MAX_HONEST_TURNS * Math.max(0, ...honestMs);
    if (turnMs.some((ms) => ms > mostMs))
      verdict.harm.push(`a turn takes too long (${turnMs.join(', ')} ms)`);
    if (verdict.isAnswerMissing && (drifted === undefined || !mayMissAnswer(drifted)))
      verdict.harm.push('the answer or its results are missing');
    else if (verdict.isAnswerMissing && drifted?.drift.kind === 'field') answerMissing.add(fieldOf(drifted));
    return verdict.harm;
  };
  const waiting = cases.values();
  let startedCases = 0;
  let playedCases = 0;
  const work = async ({ id }: { id: string }) => {
    for (const drifted of waiting) {
      startedCases += 1;
      if ((await harmOf(drifted, id)).length > 0) suspects.push({ drifted, id });
      playedCases += 1;
      if (playedCases % 50 === 0) onProgress(`${playedCases} of ${cases.length} cases`);
    }
  };
  const honestly = async () => {
    do await playHonestly();
    while (startedCases < cases.length);
  };
  const teams = sandbox.slack.teams.filter(({ id }) => id !== HONEST_TEAM);
  await Promise.all([honestly(), ...teams.map(work)]);
  const unrepeated: string[] = [];
  for (const suspect of suspects) {
    const repeated = await repeatedHarm(() => harmOf(suspect.drifted, suspect.id));
    const name = suspect.drifted?.name ?? 'without any drift';
    if (repeated.length === 0) unrepeated.push(name);
    for (const sentence of repeated) onHarm(`${name}: ${sentence}`);
  }
  if ([most, only, names].every((limit) => limit === undefined))
    for (const field of ANSWER_FIELDS)
      if (!answerMissing.has(field))
        onHarm(`${field} counts as essential, but no answer is missing without it`);
  return {
    ...{ fuzz: 'drift', cases: cases.length, seed, seconds: secondsSince(began) },
    /** One sentence for each problem. */
    harm,
    /** Cases in which something was wrong beside others, and nothing by themselves. */
    unrepeated,
    /** The fields without which an answer or its results do not stand in the thread, each after what it is a field of. */
    answerMissing: [...answerMissing].sort(),
  };
}

/** What is wrong in the last of several plays, if something is in each of them. */
async function repeatedHarm(play: () => Promise<string[]>): Promise<string[]> {
  let harm: string[] = [];
  for (let plays = 0; plays < MAX_REPEATS; plays += 1) {
    harm = await play();
    if (harm.length === 0) break;
  }
  return harm;
}

/** Plays one conversation with a drift, or without one. */
function conversationPlayer({ sandbox, released }: Awaited<ReturnType<typeof startSandbox>>) {
  const service = new DriftingService(sandbox.agent);
  let count = 0;
  return async (
    drifted: DriftCase | undefined,
    teamId: string,
    onResponse?: (response: RecordedResponse) => void,
  ) => {
    count += 1;
    const name = `case-${count}`;
    const drift = { drifted, hits: 0, onResponse };
    const end = service.begin(name, drift);
    const conversation = new DriftConversation(sandbox, { teamId, name });
    const trace = await conversation.play((question) => released.add(question));
    end();
    const verdict = judge(trace, drifted);
    if (drifted !== undefined && drift.hits === 0) verdict.harm.push('no response was changed');
    if (verdict.harm.length > 0) verdict.harm.push(JSON.stringify(trace.posts).slice(0, 1_500));
    return { verdict, turnMs: trace.turnMs };
  };
}

async function startSandbox(
  given: DriftOptions['database'],
  { isLogged, most = CONVERSATIONS }: { isLogged: boolean; most: number | undefined },
  undo: AsyncDisposableStack,
): Promise<{ sandbox: InProcessSandbox; released: Set<string> }> {
  /** The questions whose answers no longer wait for a stop. */
  const released = new Set<string>();
  const folder = await temporaryFolder(undo);
  const database = given ?? (await startPostgresServer(join(folder, 'data'), undo)).connection;
  const count = Math.min(CONVERSATIONS, most);
  const ids = [HONEST_TEAM, ...Array.from({ length: count }, (_, at) => `T${at + 1}`)];
  const sandbox = await startInProcessSandbox({
    log: pino({ level: isLogged ? 'info' : 'silent' }, process.stderr),
    databaseUrl: connectionUrl(database),
    oauth: true,
    slack: { teams: ids.map((id) => ({ id, name: id })), limits: 'off', shareDelayMs: 0 },
    agent: {
      script: driftScript((question) => released.has(question)),
      behaviour: { multipartThreshold: PART_BYTES, partSize: PART_BYTES, minPartSize: PART_BYTES },
    },
    probeMs: 10_000 * SCALE,
    limits: {
      settledTaskMs: ONE_MINUTE_MS,
      refusalMs: ONE_MINUTE_MS,
      badThingMs: 10 * ONE_MINUTE_MS,
      lookAgainMs: ONE_MINUTE_MS,
      resendMs: 2 * ONE_MINUTE_MS,
      maxBackgroundWaitMs: ONE_MINUTE_MS,
      editsPerMinute: 3_000,
      watchIntervalMs: 300,
      watchMs: 3_000,
      workWatchMs: 3_000,
    },
  });
  undo.defer(() => sandbox.stop());
  await withClient(database, async (client) => {
    // One after another: forty at once would take a busy machine longer than an installation may.
    for (const id of ids) {
      await installApp(sandbox.bot.port, id);
      if (id !== HONEST_TEAM) await setAccount(client, id, sandbox.agent);
    }
  });
  // It knows the accounts then, and not a second later.
  await sandbox.restartBot();
  return { sandbox, released };
}
