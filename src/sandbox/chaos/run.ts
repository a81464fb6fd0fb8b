import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AgentService, startAgentService } from '../agent/service.ts';
import { startDatabase } from '../database.ts';
import type { Faults } from '../faults.ts';
import { startSlackWorkspace } from '../slack/workspace.ts';
import { chaosAgent } from './agent-script.ts';
import { Assault } from './assault.ts';
import { compiledIn } from './bot-process.ts';
import { Bots } from './bots.ts';
import { compare, type Damage, type Findings } from './comparison.ts';
import { Conversation } from './conversation.ts';
import { settledFindings } from './evidence.ts';
import { startFront } from './front.ts';
import { type Connection, embeddedConnection, type TurnRow } from './ledger.ts';
import type { ChaosOptions } from './options.ts';
import { between, type Randoms, randomsOf } from './randoms.ts';
import { Reach } from './reach.ts';
import type { RunFigures } from './report.ts';
import { botSettings } from './settings.ts';
import { badWeather, Ears, HeardFaults, type Place, places, type Weather } from './weather.ts';
import { Witness } from './witness.ts';

const messagesPerKill = 3;
/** People talk faster than that at first, so that little is left to do after the last kill. */
const messagesAtFirst = 5;
/** Bytes: a larger file goes up in parts of half that. */
const multipartThreshold = 1_024;

/** What a run came to. */
export interface RunOutcome {
  findings: Findings;
  /** The bot's own rows on its turns. */
  turns: readonly TurnRow[];
  damage: Damage;
  figures: RunFigures;
}

/** What a run needs. */
export interface RunOptions extends ChaosOptions {
  logs: string;
  /** What is started and killed; the bot as it is when left out. */
  program?: string;
  /** The faults of both services until the last kill; a rule with `times` lasts until it is used up. */
  weather?: Weather;
  /** An empty, migrated database that others run; a server of the run's own when left out. */
  database?: Connection;
  /** Ends the wait for the end as soon as there is so much damage. */
  enough?: (damage: Damage) => boolean;
}

/** One run from start to end; nothing of it is left. `tell` hears how far it is. */
export async function runChaos(options: RunOptions, tell: (line: string) => void): Promise<RunOutcome> {
  const began = performance.now();
  await using undo = new AsyncDisposableStack();
  const { kills, seed, replicas, logs } = options;
  await mkdir(logs, { recursive: true });
  const folder = await mkdtemp(join(tmpdir(), 'taskthread-chaos-'));
  undo.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  await chmod(folder, 0o711);
  const random = randomsOf(seed);
  const ears = new Ears();
  const { slack, agent } = await startServices(random, ears, undo);
  const reach = new Reach(slack);
  const clearUp = gather(options.weather ?? badWeather, { slack, agent });
  const own = async () =>
    replicas > 1 ? (await startDatabase(join(folder, 'shared'), undo)).connection : undefined;
  const shared = options.database ?? (await own());
  const dataFolder = join(folder, 'data');
  const settings = {
    ...(await compiledIn(join(folder, 'compiled'))),
    ...botSettings(slack, agent, options.transport, shared ?? { dataFolder }),
  };
  const bots = new Bots({ settings, logs, program: options.program });
  undo.defer(async () => void (await bots.stop()));
  const witness = new Witness(async () => shared ?? embeddedConnection(dataFolder));
  undo.defer(() => witness.stop());
  await bots.start(replicas);
  tell(`the bot runs after ${seconds(began)} s`);
  await witness.start();
  if (options.transport === 'http') {
    const front = await startFront(() => bots.port());
    undo.defer(() => front.stop());
    await slack.useHttp({ eventsUrl: front.eventsUrl });
  }

  const settled = settledReplies(agent);
  const conversation = new Conversation(slack, random.people);
  const parts = {
    bots,
    ears,
    random: random.kills,
    ledger: () => witness.ledger,
    repliesSettled: () => settled,
    provoke: () => conversation.sayOne(),
  };
  const assault = new Assault(parts, replicas);
  while (assault.kills < kills) {
    const due = Math.min(kills * messagesPerKill, (assault.kills + 1) * messagesAtFirst);
    const talk = talkUntil(conversation, due, random.people);
    await assault.strike();
    await talk;
    if (assault.kills % 10 === 0) tell(`${assault.kills} kills after ${seconds(began)} s`);
  }
  clearUp();
  const { enough } = options;
  const isEnough = enough && ((findings: Findings) => enough(compare(findings)));
  const { findings, turns } = await settledFindings(slack, agent, witness, conversation, isEnough);
  tell(`settled after ${seconds(began)} s`);
  const said = findings.said.map((message) => ({ ...message, reached: reach.has(message) }));
  const damage = compare({ ...findings, said });
  await witness.stop();
  const lateStops = await bots.stop();
  const used = new Set(agent.tasks.map(({ project }) => project.id));
  const figures = {
    kills: assault.kills,
    messages: conversation.said.length,
    killsByStep: assault.killsByStep,
    seconds: seconds(began),
    seed,
    replicas,
    files: conversation.said.filter(({ files }) => files.length > 0).length,
    freezes: assault.freezes,
    undelivered: said.filter(({ reached }) => !reached).length,
    orphanedTasks: agent.tasks.length - findings.tasks.length,
    orphanedProjects: agent.projects.filter(({ id }) => !used.has(id)).length,
    failedStarts: bots.failedStarts,
    lateStops,
  };
  return { findings, turns, damage, figures };
}

async function startServices(random: Randoms, ears: Ears, undo: AsyncDisposableStack) {
  const slack = await startSlackWorkspace({
    random: random.slack,
    retryScale: 1 / 60,
    clientMsgIdDedupe: false,
    delivery: { order: 'random', duplicateChance: 0.15 },
    limits: { tier2: 60, tier3: 240, tier4: 300, methods: { 'chat.update': 400 } },
    faults: new HeardFaults(random.slackWeather, (call) => ears.hear('slack', call)),
  });
  undo.defer(() => slack.stop());
  const agent = await startAgentService({
    script: chaosAgent(),
    dialect: { multipartThreshold, partSize: multipartThreshold / 2, minPartSize: 1 },
    faults: new HeardFaults(random.agentWeather, (call) => ears.hear('agent', call)),
  });
  undo.defer(() => agent.stop());
  return { slack, agent };
}

/** Lets the weather begin; the answer ends what does not end by itself. */
function gather(weather: Weather, services: Record<Place, { faults: Faults }>): () => void {
  const rules = places.flatMap((place) => weather[place].map((rule) => ({ place, rule })));
  const ends = rules.map(({ place, rule }) => {
    const end = services[place].faults.add(rule);
    return rule.times === undefined ? end : () => undefined;
  });
  return () => {
    for (const end of ends) end();
  };
}

/** The service's replies that are complete, kept up to date. */
function settledReplies(agent: AgentService): ReadonlySet<string> {
  const settled = new Set<string>();
  agent.onStatus((change) => {
    if (change.kind === 'message' && change.status === 'completed') settled.add(change.message.id);
  });
  return settled;
}

/** People talk until they have said so much. */
async function talkUntil(conversation: Conversation, due: number, random: () => number): Promise<void> {
  while (conversation.said.length < due) {
    conversation.sayOne();
    await sleep(between(random, 0, 250));
  }
}

function seconds(since: number): number {
  return Math.round((performance.now() - since) / 100) / 10;
}
