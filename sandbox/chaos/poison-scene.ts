import type { AgentScript } from '../agent/agent-script.ts';
import { limitsSetting } from '../bot-settings.ts';
import { type MultiWorkspaceBotOptions, startMultiWorkspaceBot } from '../multi-workspace-bot.ts';
import { type Message, seededRandom, type Team } from '../slack/slack-workspace.ts';
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
export type PoisonScene = Awaited<ReturnType<typeof startPoisonScene>>;

/** Starts everything; `undo` stops it. */
export async function startPoisonScene(
  {
    kind,
    seed,
    settings,
    ...options
  }: { kind: BadPlace; seed: number } & Pick<MultiWorkspaceBotOptions, 'settings' | 'database' | 'logFile'>,
  undo: AsyncDisposableStack,
) {
  const ordinary = chaosAgent();
  const short: AgentScript = async (turn) => turn.write(DONE);
  const script: AgentScript = (turn) => (isBad(turn.text) ? (kind.answer ?? short)(turn) : ordinary(turn));
  const started = await startMultiWorkspaceBot(
    {
      teams: { shared: ORDINARY_TEAMS, own: [OWN_SERVICE_TEAM] },
      scripts: { shared: script, own: script },
      slack: {
        random: seededRandom(seed),
        retryScale: 1 / 60,
        delivery: { order: 'random' },
        limits: { tier2: 60, tier3: 240, tier4: 300, methods: { 'chat.update': 400 } },
        ...(kind.rotation !== undefined && { rotation: kind.rotation }),
      },
      settings: { ...limitsSetting({ editsPerMinute: 400 }), ...settings },
      ...options,
    },
    undo,
  );
  const { slack } = started;
  const isOwn = ({ id }: Team) => id === OWN_SERVICE_TEAM;
  const team = (kind.ownService && slack.teams.find(isOwn)) || slack.team;
  const botUser = team.bot.userId;
  const person = slack.createPerson({ name: 'mallory', teamId: team.id });
  const channel = slack.createChannel({ name: 'bad', teamId: team.id, members: [person] });
  const workflows = new WorkflowRuns(slack, seededRandom(1), {
    ...{ team, channels: 1, question: `${POISON_WORD}, bad` },
  });
  if (kind.workflows) await workflows.prepare();
  const posts = (message: Message) =>
    slack.thread(channel, message.threadTs ?? message.ts).filter(({ user }) => user === botUser);
  const { agent, own, database, restartBot } = started;
  return {
    ...{ slack, agent, own, database, restartBot },
    get bot() {
      return started.bot;
    },
    /** The workspace and the channel of what is bad, who writes there, and workflows of that workspace. */
    ...{ team, channel, person, workflows },
    /** The ids of all channels with something bad. */
    badChannels: () => (kind.ownService ? [...team.channels.keys()] : [channel.id]),
    /** The person writes to the bot, with the poison's word. */
    ask: (text: string, thread?: Message) =>
      slack.say({
        ...{ person, channel, text: `<@${botUser}> ${POISON_WORD} ${text}` },
        ...(thread === undefined ? {} : { thread: thread.ts }),
      }),
    /** Everything that the person reads from the bot below these messages, or alone. */
    read: (messages: readonly Message[]) =>
      [
        ...messages.flatMap(posts),
        ...slack.ephemerals(person, channel),
        ...slack.messages(slack.openDm(person)),
      ]
        .map((message) => slack.visibleText(message))
        .join('\n'),
    /** Whether each of these messages has a reply, and none of the bot's posts looks unfinished. */
    isFinished: (messages: readonly Message[]) =>
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
export async function countedBy({ bot }: Pick<PoisonScene, 'bot'>, line: RegExp): Promise<number> {
  const page = await (await fetch(`http://127.0.0.1:${bot.port}/metrics`)).text();
  const lines = page.split('\n').filter((one) => line.test(one));
  return lines.reduce((sum, one) => sum + Number(one.split(' ').at(-1)), 0);
}
