import type { AgentScript } from '../agent/agent-script.ts';
import type { AgentService } from '../agent/agent-service.ts';
import { textOf } from '../agent/records.ts';
import { DeliveryTracker } from '../chaos/conversation.ts';
import type { Channel, Person, SlackWorkspace } from '../slack/slack-workspace.ts';
import { lookUntil } from '../wait-until.ts';
import { HOSTILE_WORD } from './hostile-agent.ts';

/** How long an answer may take from the delivery of its question on, and this before. */
const ANSWER_TIMEOUT_MS = 60_000;

/** How it is looked for an answer. */
interface Looks {
  everyMs: number;
  /** What each look waits for before: where the machine is busy, a look takes as long as that. */
  after?: () => Promise<unknown>;
}

/** Answers with the question's own number, a little at a time. */
export const honestScript: AgentScript = async (turn) => {
  const number = /question (\S+)/.exec(turn.text)?.[1] ?? '?';
  for (let step = 0; step < 4; step += 1) {
    turn.write(`Step ${step} of **${number}** is done.\n\n`);
    await turn.sleep(300);
  }
  turn.write(`The end of ${number}.`);
};

/** People of one workspace who ask the honest service, one question after the other. */
export class HonestConversation {
  /** From the end of the agent's reply until the thread shows it as done, in seconds. */
  readonly lags: number[] = [];
  /** One sentence for each answer that was wrong or missing. */
  readonly harm: string[] = [];
  readonly #slack: SlackWorkspace;
  readonly #agent: AgentService;
  readonly #teamId: string;
  readonly #person: Person;
  readonly #channel: Channel;
  readonly #deliveries: DeliveryTracker;
  readonly #looks: Looks;
  /** When the reply with this number was complete (ms). */
  readonly #completedAt = new Map<string, number>();
  #count = 0;

  constructor(slack: SlackWorkspace, agent: AgentService, teamId: string, looks: Looks = { everyMs: 50 }) {
    this.#slack = slack;
    this.#looks = looks;
    this.#agent = agent;
    this.#teamId = teamId;
    this.#deliveries = new DeliveryTracker(slack);
    this.#person = slack.createPerson({ name: `honest-${teamId}`.toLowerCase(), teamId });
    this.#channel = slack.createChannel({ name: 'honest', teamId });
  }

  get questions(): number {
    return this.#count;
  }

  /** Asks until `isOver`, at least once. */
  async run(isOver: () => boolean): Promise<void> {
    const stopListening = this.#agent.onStatus((change) => {
      if (change.kind !== 'message' || change.status !== 'completed') return;
      const number = /The end of (\S+)\./.exec(textOf(change.message.content))?.[1];
      if (number !== undefined) this.#completedAt.set(number, performance.now());
    });
    try {
      do await this.#ask();
      while (!isOver());
    } finally {
      stopListening();
    }
  }

  async #ask(): Promise<void> {
    this.#count += 1;
    const number = `${this.#channel.id}-${this.#count}`;
    const bot = this.#slack.teams.find(({ id }) => id === this.#teamId)?.bot.userId ?? '';
    const text = `<@${bot}> question ${number}`;
    const root = this.#slack.say({ person: this.#person, channel: this.#channel, text });
    const replies = () => this.#slack.thread(root.channel, root.ts).filter(({ user }) => user === bot);
    const shown = () =>
      replies()
        .map((message) => this.#slack.visibleText(message))
        .join('\n');
    const isDone = () =>
      shown().includes(`The end of ${number}.`) &&
      !JSON.stringify(replies().map(({ blocks }) => blocks)).includes('"action_id":"stop"');
    const { channel, ts } = root;
    const isThere = () =>
      replies().length > 0 || this.#deliveries.wasDelivered({ channel, ts, thread: `${channel}/${ts}` });
    const { everyMs, after } = this.#looks;
    const look = async (isSo: () => boolean) => {
      await after?.();
      return isSo();
    };
    // On a busy machine Slack sends an event again, before the bot can know the question.
    await lookUntil(() => look(isThere), ANSWER_TIMEOUT_MS, everyMs);
    if (!(await lookUntil(() => look(isDone), ANSWER_TIMEOUT_MS, everyMs)).isSo)
      this.harm.push(`question ${number} was not answered: ${shown().slice(0, 200)}`);
    if (shown().includes(HOSTILE_WORD)) this.harm.push(`question ${number} got another workspace's words`);
    const completedAt = this.#completedAt.get(number) ?? performance.now();
    this.lags.push(Math.max(0, performance.now() - completedAt) / 1_000);
  }
}
