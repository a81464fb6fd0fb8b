import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AgentService, startAgentService } from '../agent/agent-service.ts';
import { textOf } from '../agent/records.ts';
import { compileCacheSettings } from '../bot-process.ts';
import { chaosSettings, OWN_HOST_SETTINGS } from '../bot-settings.ts';
import type { Faults } from '../faults.ts';
import { givenServer, startPostgresServer } from '../postgres-server.ts';
import { startRegistryService } from '../registry-service.ts';
import { startSlackWorkspace } from '../slack/slack-workspace.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Certificate, certify } from '../tls-front.ts';
import { secondsSince } from '../wait-until.ts';
import { AskingAgain } from './asking-again.ts';
import { type DatabaseConnection, embeddedConnection } from './bot-database.ts';
import { BotFleet } from './bot-fleet.ts';
import { chaosAgent } from './chaos-agent.ts';
import { type ChaosOptions, EXTRAS } from './chaos-options.ts';
import { Conversation, DeliveryTracker } from './conversation.ts';
import { CrashInjector } from './crash-injector.ts';
import { type Damage, type Findings, findDamage, type SaidMessage } from './damage.ts';
import { startFaultyDatabase } from './database-faults.ts';
import { DatabaseObserver } from './database-observer.ts';
import {
  CallNotifier,
  FAULT_TARGETS,
  type FaultProfile,
  type FaultTarget,
  ObservedFaults,
  withDelays,
} from './fault-profile.ts';
import { collectFindings } from './findings.ts';
import { Interventions } from './interventions.ts';
import { nameOfCall, REMINDER } from './kill-triggers.ts';
import { startLoadBalancer } from './load-balancer.ts';
import { type FaultyNetwork, startFaultyNetwork } from './network-faults.ts';
import { between, createRandomStreams, type RandomStreams } from './random-streams.ts';
import { failInEveryWay } from './recovery.ts';
import { citation, ReplacingSources } from './replacing-sources.ts';
import { SavingRecords } from './saving-records.ts';
import { WorkflowRuns } from './workflow-runs.ts';

const MESSAGES_PER_KILL = 3;
/** People write faster at first, so that little remains after the last kill. */
const INITIAL_MESSAGES_PER_KILL = 5;
/** After a message, somebody edits, deletes, stops or presses something. */
const INTERVENTION_CHANCE = 0.6;
/** What replies in direct messages need to be streamed, and the probability that a thread is one. */
const STREAM_SETTINGS = { DM_STREAMS: 'true', AGENT_SESSIONS: 'true' };
const STREAMED_SHARE = 0.5;
/** Where the agent asks: who asked is reminded soon. */
const QUESTION_LIMITS = { silenceMs: 1_000, remindMs: 1_500 };
/** Where the agent cites works: what a kill kept from being looked up is looked up soon. */
const SOURCE_SETTINGS = { CHECK_SOURCES: 'crossref', CHECK_SOURCES_MAILTO: 'someone@example.org' };
const SOURCE_LIMITS = { sourceLookAgainMs: 3_000 };
/** Bytes: a larger file is uploaded in parts of half this size. */
const MULTIPART_THRESHOLD = 1_024;

/** The outcome of a run. */
export type ChaosRunResult = Awaited<ReturnType<typeof runChaos>>;

export interface ChaosRunOptions extends ChaosOptions {
  logs: string;
  /** A program to run instead of the bot. */
  program?: string;
  /** Faults of both services until the last kill; a rule with `times` lasts until it is used up. */
  faultProfile?: FaultProfile;
  /** An empty, migrated database; by default the run starts its own server. */
  database?: DatabaseConnection;
  /** Ends the run early once the damage found so far satisfies it. */
  isEnough?: (damage: Damage) => boolean;
}

/** Performs one run and cleans up after it. `onProgress` receives progress messages. */
export async function runChaos(options: ChaosRunOptions, onProgress: (line: string) => void) {
  const began = performance.now();
  await using undo = new AsyncDisposableStack();
  const { kills, seed, replicas, logs, databaseFaultSeconds, networkFaultSeconds } = options;
  await mkdir(logs, { recursive: true });
  const folder = await temporaryFolder(undo);
  const random = createRandomStreams(seed);
  const callNotifier = new CallNotifier();
  const { streams = false, questions = false } = options;
  const network = networkFaultSeconds && (await startFaultyNetwork(random.networkFaults, undo));
  const tls = options.tls === true ? await certify(folder) : undefined;
  const reached = { proxies: network ? network.proxies : undefined, certificate: tls?.certificate };
  const registry = options.sources ? await startRegistryService() : undefined;
  if (registry !== undefined) undo.defer(() => registry.stop());
  const cite = registry && ((token: string) => citation(registry, token));
  const { slack, agent } = await startServices(
    random,
    callNotifier,
    { streams, questions, cite, ...reached },
    undo,
  );
  const deliveryTracker = new DeliveryTracker(slack);
  const stopFaults = injectFaults(options.faultProfile ?? withDelays(options.delay), { slack, agent });
  const faulty =
    databaseFaultSeconds === undefined
      ? undefined
      : await startFaultyDatabase(join(folder, 'faulty'), random.databaseFaults, undo);
  const own = async () =>
    replicas > 1 || givenServer() !== undefined
      ? (await startPostgresServer(join(folder, 'shared'), undo)).connection
      : undefined;
  const shared = faulty?.proxied ?? options.database ?? (await own());
  const dataFolder = join(folder, 'data');
  const settings = {
    ...(await compileCacheSettings(join(folder, 'compiled'))),
    ...chaosSettings(slack, agent, options.transport, shared ?? { dataFolder }, {
      delaySeconds: options.delay,
      ...(questions && QUESTION_LIMITS),
      ...(registry && { registries: registry.addresses, ...SOURCE_LIMITS }),
    }),
    ...(registry && SOURCE_SETTINGS),
    ...tls?.settings,
    ...(streams ? STREAM_SETTINGS : {}),
    ...(options.otherHosts ? OWN_HOST_SETTINGS : {}),
  };
  const bots = new BotFleet({ settings, logs, program: options.program });
  undo.defer(async () => void (await bots.stop()));
  const observer = new DatabaseObserver(
    async () => faulty?.direct ?? shared ?? embeddedConnection(dataFolder),
  );
  undo.defer(() => observer.stop());
  await bots.start(replicas);
  onProgress(`the bot is running after ${secondsSince(began)} s`);
  await observer.start();
  if (options.transport === 'http') {
    const loadBalancer = await startLoadBalancer(() => bots.port());
    undo.defer(() => loadBalancer.stop());
    await slack.useHttp({ eventsUrl: loadBalancer.eventsUrl });
  }

  const completedReplies = trackCompletedReplies(agent);
  const conversation = new Conversation(slack, random.people, {
    ...(streams && { directMessageChance: STREAMED_SHARE }),
  });
  const workflows = options.workflows ? new WorkflowRuns(slack, random.people) : undefined;
  await workflows?.prepare();
  const { said: written } = conversation;
  const records = options.records ? new SavingRecords(slack, written, random.people) : undefined;
  const again = options.again ? new AskingAgain(slack, written, random.people) : undefined;
  const sources = options.sources
    ? new ReplacingSources(slack, written, random.people, {
        heldByAgent: () => writtenTo(agent),
        onPress: () => callNotifier.notify('slack', 'press of a replacement'),
      })
    : undefined;
  const besides = [workflows, again, records, sources].filter((one) => one !== undefined);
  const interventions = new Interventions(slack, conversation, random.interventions);
  const deps = {
    bots,
    callNotifier,
    random: random.kills,
    botDatabase: () => observer.botDatabase,
    completedReplies: () => completedReplies,
    sayOne: () => conversation.sayOne(),
  };
  const extras = EXTRAS.filter((extra) => options[extra]);
  const crashInjector = new CrashInjector(deps, replicas, extras);
  while (crashInjector.kills < kills) {
    const due = Math.min(kills * MESSAGES_PER_KILL, (crashInjector.kills + 1) * INITIAL_MESSAGES_PER_KILL);
    const talk = talkUntil(conversation, interventions, due, random, () => {
      for (const one of besides) one.runOne();
    });
    await crashInjector.killOne();
    await talk;
    if (crashInjector.kills % 10 === 0)
      onProgress(`${crashInjector.kills} kills after ${secondsSince(began)} s`);
  }
  stopFaults();
  // What a process that was not killed could not write is in its memory.
  const isExpected = (message: SaidMessage) => kills === 0 || deliveryTracker.wasDelivered(message);
  const sendPaused = () => interventions.sendPaused();
  const { takeoverSeconds } = crashInjector;
  const recoverySeconds = new Map<string, number>();
  if (takeoverSeconds.length > 0) recoverySeconds.set('takeover', Math.max(...takeoverSeconds));
  for (const [broken, seconds = 0] of [
    [faulty, databaseFaultSeconds],
    [network, networkFaultSeconds],
  ] as const) {
    if (!broken) continue;
    const recovery = { broken, observer, conversation, isExpected, sendPaused, onProgress };
    for (const [fault, took] of await failInEveryWay(recovery, seconds)) recoverySeconds.set(fault, took);
  }
  for (const one of besides) await one.settled();
  const { isEnough } = options;
  const canStop = isEnough && ((findings: Findings) => isEnough(findDamage(findings)));
  const asked = [workflows, again, sources].flatMap((one) => one?.questions() ?? []);
  const names = [...conversation.names, ...(again?.names ?? []), ...(sources?.names ?? [])];
  const everybody = { said: [...written, ...asked], names };
  const { findings, turns } = await collectFindings(slack, agent, observer, everybody, canStop, sendPaused);
  onProgress(`all work settled after ${secondsSince(began)} s`);
  const said = findings.said.map((message) => ({
    ...message,
    wasDelivered: message.wasDelivered ?? isExpected(message),
  }));
  const damage = findDamage({ ...findings, said });
  await observer.stop();
  const lateStops = await bots.stop();
  const used = new Set(agent.tasks.map(({ project }) => project.id));
  const { extraKills } = crashInjector;
  const stats = {
    kills: crashInjector.kills,
    messages: conversation.said.length,
    killsByStep: crashInjector.killsByStep,
    seconds: secondsSince(began),
    seed,
    replicas,
    files: conversation.said.filter(({ files }) => files.length > 0).length,
    freezes: crashInjector.freezes,
    /** Messages whose event, or whose thread root's event, Slack gave up delivering: they may be missing. */
    undelivered: said.filter(({ wasDelivered }) => !wasDelivered).length,
    /** Tasks and projects at the service that no thread uses. */
    orphanedTasks: agent.tasks.length - findings.tasks.length,
    orphanedProjects: agent.projects.filter(({ id }) => !used.has(id)).length,
    failedStarts: bots.failedStarts,
    /** The faults of database and network, if they have any. */
    faultKinds: {
      ...(faulty && { databaseFaults: faulty.faults }),
      ...(network && { networkFaults: network.faults }),
    },
    /**
     * How long after each of these faults the oldest message of each thread that waited was answered, and at most after a
     * kill until other processes could take all that the killed one had held (s).
     */
    recoverySeconds,
    /** Processes that had to be killed at the end because they did not shut down in time. */
    lateStops,
    interventions: interventions.counts,
    directMessages: conversation.directMessages,
    streams: slack.calls.filter(({ method, ok }) => method === 'chat.startStream' && ok).length,
    /** Reminders of questions that nobody had answered, and the kills at their posts and deletions. */
    reminders: questions
      ? slack.calls.filter(({ args, ok }) => ok && String(args.text).includes(REMINDER)).length
      : undefined,
    reminderKills: extraKills.questions,
    workflows: workflows?.counts(),
    records: records && { ...(await records.counts()), recordKills: extraKills.records },
    again: again && { ...(await again.counts()), linkKills: extraKills.again },
    sources: sources && { ...(await sources.counts()), sourceKills: extraKills.sources },
  };
  /** `turns`: the bot's own rows about them. */
  return { findings, turns, damage, stats };
}

interface ServicesOptions {
  streams: boolean;
  questions: boolean;
  cite: ((token: string) => string) | undefined;
  proxies: FaultyNetwork['proxies'] | undefined;
  certificate: Certificate | undefined;
}

async function startServices(
  random: RandomStreams,
  callNotifier: CallNotifier,
  { streams, questions, cite, proxies, certificate }: ServicesOptions,
  undo: AsyncDisposableStack,
) {
  const slack = await startSlackWorkspace({
    agent: streams,
    reach: { certificate, proxy: proxies?.slack },
    random: random.slack,
    retryScale: 1 / 60,
    clientMsgIdDedupe: false,
    delivery: { order: 'random', duplicateChance: 0.15 },
    limits: { tier2: 60, tier3: 240, tier4: 300, methods: { 'chat.update': 400 } },
    faults: new ObservedFaults(random.slackFaults, (call, subject) => {
      callNotifier.notify('slack', nameOfCall(call, subject));
    }),
  });
  undo.defer(() => slack.stop());
  const agent = await startAgentService({
    script: chaosAgent({ questions, cite }),
    reach: { certificate, proxy: proxies?.agent },
    storageProxy: proxies?.storage,
    behaviour: {
      multipartThreshold: MULTIPART_THRESHOLD,
      partSize: MULTIPART_THRESHOLD / 2,
      minPartSize: 1,
      afterAsk: 'new-reply',
    },
    faults: new ObservedFaults(random.agentFaults, (call) => callNotifier.notify('agent', call)),
  });
  undo.defer(() => agent.stop());
  return { slack, agent };
}

/** Adds the faults; the returned function removes those without a `times` limit. */
function injectFaults(
  faultProfile: FaultProfile,
  services: Record<FaultTarget, { faults: Faults }>,
): () => void {
  const rules = FAULT_TARGETS.flatMap((target) => faultProfile[target].map((rule) => ({ target, rule })));
  const ends = rules.map(({ target, rule }) => {
    const end = services[target].faults.add(rule);
    return rule.times === undefined ? end : () => undefined;
  });
  return () => {
    for (const end of ends) end();
  };
}

/** What people wrote, as the service has it. */
function writtenTo(agent: AgentService): string[] {
  const messages = agent.tasks.flatMap((task) => task.messages);
  return messages.filter(({ role }) => role === 'user').map(({ content }) => textOf(content));
}

/** Ids of the service's completed replies, kept up to date. */
function trackCompletedReplies(agent: AgentService): ReadonlySet<string> {
  const completed = new Set<string>();
  agent.onStatus((change) => {
    if (change.kind === 'message' && change.status === 'completed') completed.add(change.message.id);
  });
  return completed;
}

/** People write, and change their minds, until the conversation has `due` messages. */
async function talkUntil(
  conversation: Conversation,
  interventions: Interventions,
  due: number,
  random: RandomStreams,
  onSaid: () => void,
): Promise<void> {
  while (conversation.said.length < due) {
    conversation.sayOne();
    onSaid();
    await sleep(between(random.people, 0, 250));
    if (random.interventions() < INTERVENTION_CHANCE) await interventions.actOne();
  }
}
