import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentService } from '../agent/agent-service.ts';
import { textOf } from '../agent/records.ts';
import { readPrompt } from '../prompt-reader.ts';
import type { Message, SlackWorkspace } from '../slack/slack-workspace.ts';
import { lookUntil } from '../wait-until.ts';
import type { TurnRow } from './bot-database.ts';
import type {
  BotPost,
  FileFingerprint,
  Findings,
  SaidMessage,
  ServiceMessage,
  ServiceTask,
  ShownThread,
} from './damage.ts';
import type { DatabaseObserver } from './database-observer.ts';

/** The reaction on a waiting message. */
const WAITING_REACTION = 'hourglass_flowing_sand';
/** Buttons of an unfinished turn, and of messages that wait behind a stop. */
const UNFINISHED_BUTTON = /"action_id":"(stop|go)"/;
/** Text of an unfinished turn. */
const UNFINISHED_TEXT =
  /getting started|Sending your file|The agent is working|as soon as it can|Stopping…|can't reach|very busy|API key for the agent service doesn't work|limiting my messages|waiting for your answer/;

const SETTLE_TIMEOUT_MS = 120_000;
const SETTLE_POLL_MS = 200;

interface Everybody {
  said: readonly SaidMessage[];
  names: readonly string[];
  /** What is left out: some channels, and tasks with a word. */
  except?: { channels: readonly string[]; word: string };
}

/**
 * Collects the findings, and the bot's rows about its turns, once all work is done or none of it has ended for two minutes.
 * `isEnough` may end the wait earlier. `sendPaused` sends messages that wait behind a stop, and resolves to
 * whether there were any.
 */
export async function collectFindings(
  slack: SlackWorkspace,
  agent: AgentService,
  observer: DatabaseObserver,
  { said, names, except }: Everybody,
  isEnough?: (findings: Findings) => boolean,
  sendPaused: () => Promise<boolean> = async () => false,
): Promise<{ findings: Findings; turns: TurnRow[] }> {
  const gather = async () => {
    const [unfinished, turns] = [await observer.unfinished(except?.channels), await observer.turns()];
    const isExcept = ({ text }: ServiceMessage) => except !== undefined && text.includes(except.word);
    const findings = {
      said,
      tasks: (await serviceTasks(agent, names)).filter(({ messages }) => !messages.some(isExcept)),
      threads: shownThreads(slack, said),
      waitingPairs: observer.waitingPairs,
      sent: sendOrder(agent, turns),
      unfinished,
    };
    return { findings, turns };
  };
  const waitingReactions = () =>
    shownThreads(slack, said).reduce((sum, thread) => sum + thread.waitingReactions, 0);
  let delivered = false;
  void slack.settled().then(() => {
    delivered = true;
  });
  let enough: Awaited<ReturnType<typeof gather>> | undefined;
  let [fewest, isOver] = [Number.POSITIVE_INFINITY, false];
  const hasMovedOn = async () => {
    const isOpen = (await sendPaused()) || !delivered;
    const unfinished = await observer.unfinished(except?.channels);
    const hasFewer = unfinished < fewest;
    fewest = Math.min(fewest, unfinished);
    isOver = !isOpen && unfinished === 0 && waitingReactions() === 0;
    const now = !isOver && isEnough && (await gather());
    if (now && isEnough?.(now.findings)) enough = now;
    isOver ||= enough !== undefined;
    return isOver || hasFewer;
  };
  while (!isOver && (await lookUntil(hasMovedOn, SETTLE_TIMEOUT_MS, SETTLE_POLL_MS)).isSo);
  if (enough !== undefined) return enough;
  // A process with an expired lease might still post, which would be damage.
  await sleep(1_000);
  return gather();
}

/** The content of the tasks. `names` precede the messages of threads with several people. */
async function serviceTasks(agent: AgentService, names: readonly string[]): Promise<ServiceTask[]> {
  const fingerprints = new Map<string, FileFingerprint>();
  for (const file of agent.files) {
    if (file.ready && file.purpose === 'input')
      fingerprints.set(file.id, `${file.name} ${await file.sha256()}`);
  }
  return agent.tasks.flatMap(({ id, project, messages, results }) => {
    const replies = messages.filter(({ role }) => role === 'assistant');
    const held = messages
      .filter(({ role }) => role === 'user')
      .map((message) => {
        const { fileIds = [] } =
          replies.find(({ input }) => input?.userMessageId === message.id)?.input ?? {};
        return {
          text: readPrompt(textOf(message.content), names).text,
          files: fileIds.map((file) => fingerprints.get(file) ?? file),
        };
      });
    if (held.length === 0) return [];
    const texts = replies.map(({ content }) => textOf(content));
    return [
      {
        id,
        project: project.id,
        messages: held,
        replies: texts,
        results: results.map(({ file }) => file.name),
      },
    ];
  });
}

/** The content of every thread in which people wrote. */
function shownThreads(slack: SlackWorkspace, said: readonly SaidMessage[]): ShownThread[] {
  const bots = new Set(slack.teams.map(({ bot }) => bot.userId));
  return [...new Set(said.map(({ thread }) => thread))].map((thread) => {
    const [channel = '', root = ''] = thread.split('/');
    const messages = slack.thread(channel, root);
    return {
      thread,
      posts: messages.filter(({ user }) => bots.has(user)).map((message) => botPost(slack, message)),
      waitingReactions: messages.filter(({ reactions }) => (reactions.get(WAITING_REACTION) ?? []).length > 0)
        .length,
    };
  });
}

/** A post of the bot as people see it. */
export function botPost(slack: SlackWorkspace, message: Message): BotPost {
  const blocks = message.blocks ?? [];
  const answers = blocks.filter(({ type }) => type === 'markdown');
  const others = blocks.filter(({ type }) => type !== 'markdown');
  const otherText =
    message.blocks === undefined ? message.text : slack.visibleText({ text: '', blocks: others });
  const payload = message.metadata?.event_payload;
  const key = typeof payload === 'object' && payload !== null && 'key' in payload ? payload.key : undefined;
  return {
    answer: answers.length === 0 ? '' : slack.visibleText({ text: '', blocks: answers }),
    otherText,
    key: typeof key === 'string' ? key : undefined,
    history: message.versions.map(({ at, text }) => ({ at, text: text.slice(0, 60) })),
    looksUnfinished: UNFINISHED_BUTTON.test(JSON.stringify(others)) || UNFINISHED_TEXT.test(otherText),
  };
}

/** The ts of each thread's messages, in the order in which the service received them. */
function sendOrder(agent: AgentService, turns: readonly TurnRow[]): Findings['sent'] {
  const position = new Map(
    agent.tasks.flatMap(({ messages }) => messages.map(({ id }, index) => [id, index] as const)),
  );
  const at = ({ userMessageId }: TurnRow) => position.get(userMessageId ?? '') ?? -1;
  const sent = turns.filter((one) => at(one) >= 0).toSorted((a, b) => at(a) - at(b));
  const order = Map.groupBy(sent, ({ channel, thread_ts }) => `${channel}/${thread_ts}`);
  return new Map([...order].map(([thread, rows]) => [thread, rows.map(({ ts }) => ts)]));
}
