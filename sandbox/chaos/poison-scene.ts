import pg from 'pg';
import type { AgentScript } from '../agent/agent-script.ts';
import { type AgentService, startAgentService } from '../agent/agent-service.ts';
import { BotProcess } from '../bot-process.ts';
import { oauthSettings, serviceSettings, UNLIMITED_QUOTAS } from '../bot-settings.ts';
import { connectionUrl } from '../connection-url.ts';
import { containerMemorySettings, installApp, setAccount } from '../multi-workspace-bot.ts';
import {
  type Channel,
  type Message,
  type Person,
  type SlackWorkspace,
  seededRandom,
  startSlackWorkspace,
  type Team,
} from '../slack/slack-workspace.ts';
import type { DatabaseConnection } from './bot-database.ts';
import { chaosAgent } from './chaos-agent.ts';
import { botPost } from './findings.ts';
import { WorkflowRuns } from './workflow-runs.ts';

/** Where people have ordinary conversations. Most bad things happen in the first of these workspaces. */
export const ORDINARY_TEAMS: readonly string[] = ['T1', 'T2', 'T3', 'T4', 'T5'];
/** A workspace with a service of its own, whose agent is at fault. */
const OWN_SERVICE_TEAM = 'T9';
/** In every message to the bad one, and in no other. */
export const POISON_WORD = 'poison';

/** In every answer to what is bad, unless its kind has another one. */
export const DONE = 'That was all of it.';

/** What a kind of bad things needs. */
export interface BadPlace {
  /** Whether it is in the workspace with a service of its own. */
  ownService?: boolean;
  /** The agent's answer to the bad message; a short one by default. */
  answer?: AgentScript;
  /** Whether workflows ask too, there and in another workspace. */
  workflows?: boolean;
  /** Lifetime of tokens (ms); unlimited by default. */
  rotation?: number;
}

/** Six workspaces, two agent services and the bot, with a place in which one thing may be bad. */
export interface PoisonScene {
  readonly slack: SlackWorkspace;
  /** The service of everybody but one workspace. */
  readonly agent: AgentService;
  readonly own: AgentService;
  /** The bot's database, over a connection of the run's. */
  readonly database: pg.Client;
  /** The workspace of what is bad. */
  readonly team: Team;
  readonly person: Person;
  /** The channel of what is bad. */
  readonly channel: Channel;
  readonly bot: BotProcess;
  /** The ids of everything bad. */
  badChannels: () => string[];
  /** Workflows of that workspace, if any. */
  readonly badWorkflows: WorkflowRuns | undefined;
  /** Starts the bot again; `meanwhile` runs while there is none. */
  restartBot: (meanwhile: () => Promise<void>) => Promise<void>;
  /** The person writes to the bot, with the poison's word. */
  ask: (text: string, thread?: Message) => Message;
  /** Everything that people of the bad place read from the bot below these messages, or only they. */
  read: (messages: readonly Message[]) => string;
  /** Whether each of these messages has a reply, and none of the bot's posts looks unfinished. */
  isFinished: (messages: readonly Message[]) => boolean;
}

export interface PoisonSceneOptions {
  seed: number;
  kind: BadPlace;
  database: DatabaseConnection;
  /** More of the bot's environment. */
  settings: Readonly<Record<string, string>>;
  logFile: string;
}

/** Starts everything; `undo` stops it. */
export async function startPoisonScene(
  options: PoisonSceneOptions,
  undo: AsyncDisposableStack,
): Promise<PoisonScene> {
  const { kind } = options;
  const teams = [...ORDINARY_TEAMS, OWN_SERVICE_TEAM].map((id) => ({ id, name: id }));
  const slack = await startSlackWorkspace({
    teams,
    random: seededRandom(options.seed),
    // What is said while no bot runs is lost.
    retryScale: 1 / 600,
    delivery: { order: 'random' },
    limits: { tier2: 60, tier3: 240, tier4: 300, methods: { 'chat.update': 400 } },
    ...(kind.rotation !== undefined && { rotation: kind.rotation }),
  });
  undo.defer(() => slack.stop());
  const ordinary = chaosAgent();
  const short: AgentScript = async (turn) => turn.write(DONE);
  const script: AgentScript = (turn) => (isBad(turn.text) ? (kind.answer ?? short)(turn) : ordinary(turn));
  const [agent, own] = [await startAgentService({ script }), await startAgentService({ script })];
  undo.defer(async () => void (await Promise.all([agent.stop(), own.stop()])));
  const settings = {
    ...serviceSettings(slack, agent, 'socket'),
    ...oauthSettings(slack),
    ...UNLIMITED_QUOTAS,
    ...(await containerMemorySettings()),
    ACCOUNT_HOSTS: '127.0.0.1',
    DATABASE_URL: connectionUrl(options.database),
    SLACK_EDITS_PER_MINUTE: '400',
    ...options.settings,
  };
  const start = async () => {
    const started = new BotProcess(settings, options.logFile);
    undo.defer(async () => void (started.alive && (await started.kill())));
    if (!(await started.ready())) throw new Error(`The bot did not start: see ${options.logFile}.`);
    return started;
  };
  let bot = await start();
  const database = new pg.Client(options.database);
  await database.connect();
  undo.defer(() => database.end());
  for (const { id } of teams) await installApp(bot.port ?? 0, id);
  await setAccount(database, OWN_SERVICE_TEAM, own);
  const isOwn = ({ id }: Team) => id === OWN_SERVICE_TEAM;
  const team = (kind.ownService && slack.teams.find(isOwn)) || slack.team;
  const botUser = team.bot.userId;
  const person = slack.createPerson({ name: 'mallory', teamId: team.id });
  const channel = slack.createChannel({ name: 'bad', teamId: team.id, members: [person] });
  const question = `${POISON_WORD}, bad`;
  const badWorkflows = kind.workflows
    ? new WorkflowRuns(slack, seededRandom(1), { team, channels: 1, question })
    : undefined;
  await badWorkflows?.prepare();
  const posts = (message: Message) =>
    slack.thread(channel, message.threadTs ?? message.ts).filter(({ user }) => user === botUser);
  return {
    ...{ slack, agent, own, database, team, person, channel, badWorkflows },
    badChannels: () => (kind.ownService ? [...team.channels.keys()] : [channel.id]),
    get bot() {
      return bot;
    },
    restartBot: async (meanwhile) => {
      await bot.stop();
      await meanwhile();
      bot = await start();
    },
    ask: (text, thread) =>
      slack.say({
        ...{ person, channel, text: `<@${botUser}> ${POISON_WORD} ${text}` },
        ...(thread === undefined ? {} : { thread: thread.ts }),
      }),
    read: (messages) =>
      [
        ...messages.flatMap(posts),
        ...slack.ephemerals(person, channel),
        ...slack.messages(slack.openDm(person)),
      ]
        .map((message) => slack.visibleText(message))
        .join('\n'),
    isFinished: (messages) =>
      messages.every((message) => {
        const shown = posts(message).map((one) => botPost(slack, one));
        return shown.length > 0 && shown.every(({ looksUnfinished }) => !looksUnfinished);
      }),
  };
}

/** Whether a message is one for which the agent has a bad answer. */
function isBad(text: string): boolean {
  return text.includes(POISON_WORD) && text.includes('bad');
}

/** The sum of the bot's metrics whose line matches. */
export async function countedBy({ bot }: PoisonScene, line: RegExp): Promise<number> {
  const page = await (await fetch(`http://127.0.0.1:${bot.port}/metrics`)).text();
  const lines = page.split('\n').filter((one) => line.test(one));
  return lines.reduce((sum, one) => sum + Number(one.split(' ').at(-1)), 0);
}
