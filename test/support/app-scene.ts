import { EventEmitter } from 'node:events';
import { pino } from 'pino';
import { afterAll, afterEach, beforeEach, expect } from 'vitest';
import { textOf } from '../../sandbox/agent/records.ts';
import type { ServiceBehaviour } from '../../sandbox/agent/service-behaviour.ts';
import {
  type InProcessSandbox,
  type InProcessSandboxOptions,
  startInProcessSandbox,
} from '../../sandbox/in-process-sandbox.ts';
import { connectionUrl } from '../../sandbox/postgres-server.ts';
import type { Channel, Message, Person, SlackWorkspace } from '../../sandbox/slack/slack-workspace.ts';
import { StoreError } from '../../src/store/errors.ts';
import { copyTemplateDatabase, dropDatabase } from './fresh-database.ts';
import { closeWhenDone } from './left-open.ts';

/** Far more than it takes, for machines that are busy. */
const TIMEOUT_MS = 100_000;
const POLL_INTERVAL_MS = 40;
/** What takes long is looked at less often: up to this interval, and a tenth of the time that has passed. */
const MAX_POLL_INTERVAL_MS = 250;
/** A simple question is answered in this time. */
const QUIET_MS = 1_000;
/** How long the end of a turn is waited for before a look, which is a query: other processes end turns, too. */
const TURN_END_WAIT_MS = 600;
const COMMIT_MS = 15;
/** What was going on ends in this time once the services behave. */
const RESET_MS = 15_000;
/**
 * Our own limits would make turns wait that a workspace without limits need not, and people a second for each reply. What a test
 * does to a call to Slack ends it at once, unless the test holds it.
 */
const IMPATIENT_LIMITS = {
  slackPace: 20,
  editsPerMinute: 3_000,
  readIntervalMs: 150,
  slackCallLifetimeMs: 1_500,
};
/** Slack answers in this process, which on a busy machine is slower than Slack. */
const PATIENT_LOOKUPS = { lookupMs: 10_000, windowLookupMs: 10_000 };
/** A task is looked at after its turn only where a test says when: the looks are nearly half of what a scene at rest does. */
const UNWATCHED = { watchIntervalMs: 3_600_000 };
/** Few people need few connections, each of which costs the server as much as a question, and plans each statement anew. */
export const FEW_CONNECTIONS = { DATABASE_CONNECTIONS: '5' };

type Saying = Parameters<SlackWorkspace['say']>[0];

/** A sandbox with people in it, and short methods for what tests do there. */
export class AppScene {
  readonly sandbox: InProcessSandbox;
  readonly #turnEnds: EventEmitter;
  readonly #behaviour: Readonly<ServiceBehaviour>;
  readonly #slackSettings: Readonly<SlackWorkspace['settings']>;
  readonly #delivery: Readonly<SlackWorkspace['delivery']>;
  readonly ada: Person;
  readonly grace: Person;
  #channels = 0;

  /** `turnEnds` emits the `ts` of each message whose turn ends in this process. */
  constructor(sandbox: InProcessSandbox, turnEnds = new EventEmitter()) {
    this.sandbox = sandbox;
    this.#turnEnds = turnEnds;
    this.#behaviour = { ...sandbox.agent.behaviour };
    this.#slackSettings = { ...sandbox.slack.settings };
    this.#delivery = { ...sandbox.slack.delivery };
    this.ada = sandbox.slack.createPerson({ name: 'ada' });
    this.grace = sandbox.slack.createPerson({ name: 'grace' });
  }

  get slack() {
    return this.sandbox.slack;
  }

  get agent() {
    return this.sandbox.agent;
  }

  /** The bot's mention, as it is typed. */
  get mention(): string {
    return `<@${this.slack.bot.userId}>`;
  }

  /** A new channel with the bot and everybody in it. */
  channel(name?: string): Channel {
    this.#channels += 1;
    return this.slack.createChannel({
      name: name ?? `lab-${this.#channels}`,
      purpose: 'Where things are tried',
    });
  }

  /** Ada mentions the bot. */
  ask(channel: Channel, text: string, more: Partial<Saying> = {}): Message {
    return this.slack.say({ person: this.ada, channel, text: `${this.mention} ${text}`, ...more });
  }

  /** Ada, or somebody else, says something in a thread. */
  reply(channel: Channel, root: Message, text: string, more: Partial<Saying> = {}): Message {
    return this.slack.say({ person: this.ada, channel, thread: root.ts, text, ...more });
  }

  /** Ada shares files again that are in Slack already, with a mention. */
  shareAgain(channel: Channel, text: string, fileIds: string[], root?: Message): Message {
    return this.slack.say({
      person: this.ada,
      channel,
      text: `${this.mention} ${text}`,
      existingFileIds: fileIds,
      ...(root && { thread: root.ts }),
    });
  }

  /** The bot's messages in a thread. */
  replies(channel: Channel, root: Message): Message[] {
    const thread = this.slack.thread(channel.id, root.threadTs ?? root.ts);
    return thread.filter(({ user }) => user === this.slack.bot.userId);
  }

  /** The bot's newest message in a thread with such a button, once there is one. */
  messageWithButton(channel: Channel, root: Message, actionId: string): Promise<Message> {
    const has = ({ blocks }: Message) => JSON.stringify(blocks ?? []).includes(`"${actionId}"`);
    return this.until(`there is a button ${actionId}`, () => this.replies(channel, root).findLast(has));
  }

  /** Makes somebody known to the bot, which looks strangers up for a short time only when they press something. */
  async makeKnown(person: Person): Promise<void> {
    const channel = this.channel();
    await this.finished(channel, this.ask(channel, 'hello', { person }));
  }

  /** What the bot shows in a thread, all of it. */
  shown(channel: Channel, root: Message): string {
    return this.replies(channel, root)
      .map((message) => this.slack.visibleText(message))
      .join('\n\n');
  }

  /** The newest of the service's tasks whose title begins so: another attempt of the test may have left one. */
  taskOf(title: string) {
    return this.agent.tasks.findLast((task) => task.title.startsWith(title));
  }

  /** What the service holds of people's messages in the thread's task, oldest first. */
  sentToAgent(title: string): { texts: string[]; fileIds: string[][] } {
    const messages = this.taskOf(title)?.messages ?? [];
    const texts = messages.filter(({ role }) => role === 'user').map(({ content }) => textOf(content));
    const fileIds = messages.flatMap(({ input }) => (input === null ? [] : [input.fileIds]));
    return { texts, fileIds };
  }

  /** Ends what takes the agent long in the task of this title, such as `/slow 9000`, once it works there. */
  async hurry(title: string): Promise<void> {
    const all = () => this.agent.tasks.filter((task) => task.title.startsWith(title)).toReversed();
    const isAtWork = () => all().some(({ id }) => this.agent.hurry(id));
    await this.until(`the agent works on "${title}"`, isAtWork);
  }

  /** Waits until the turn of this message is finished. */
  async finished(
    { id: channel }: Pick<Channel, 'id'>,
    message: Message,
    withinMs = TIMEOUT_MS,
  ): Promise<void> {
    const key = { workspace: message.teamId, channel, ts: message.ts };
    for (const end = performance.now() + withinMs; performance.now() < end; ) {
      const mayHaveEnded = this.#turnEnd(message.ts);
      const turn = await this.sandbox.bot.store.turns.ofMessage(key).catch(undefinedInOutage);
      if (turn?.finished_at != null) return;
      await mayHaveEnded;
    }
    throw new Error(`This did not happen: the turn of "${message.text}" finishes`);
  }

  /** Waits until the turn of a message ends in this process, but not long: it may end in another. */
  async #turnEnd(ts: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, TURN_END_WAIT_MS);
    // By then its transaction is committed.
    const onEnd = () => void setTimeout(resolve, COMMIT_MS);
    this.#turnEnds.once(ts, onEnd);
    await promise;
    clearTimeout(timer);
    this.#turnEnds.off(ts, onEnd);
  }

  /** Waits until something is so; fails with `what` when it does not become so. */
  async until<T>(
    what: string,
    look: () => T | undefined | false | Promise<T | undefined | false>,
    withinMs = TIMEOUT_MS,
  ): Promise<T> {
    const began = performance.now();
    for (let passed = 0; passed < withinMs; passed = performance.now() - began) {
      const seen = await (async () => look())().catch(undefinedInOutage);
      if (seen !== undefined && seen !== false) return seen;
      await pause(Math.min(Math.max(POLL_INTERVAL_MS, passed / 10), MAX_POLL_INTERVAL_MS));
    }
    throw new Error(`This did not happen: ${what}`);
  }

  /**
   * Makes the scene ready for its next test, also after one that failed: no fault is left, the services behave as they did
   * at first, and no turn goes on. For `afterEach`, where tests run one after another.
   */
  async reset(): Promise<void> {
    for (const { faults } of [this.slack, this.agent]) faults.clear();
    Object.assign(this.agent.behaviour, this.#behaviour);
    Object.assign(this.slack.settings, this.#slackSettings);
    Object.assign(this.slack.delivery, this.#delivery);
    const atWork = this.agent.tasks.filter(
      ({ status, messages }) => status === 'running' || messages.at(-1)?.status === 'cancelling',
    );
    await Promise.all(atWork.map(({ id }) => this.#endTask(id)));
    const open = this.sandbox.bot.store.db.selectFrom('turns').select('id').where('finished_at', 'is', null);
    const areOver = async () => (await open.execute()).length === 0;
    // What a failed test left may not end at all.
    await this.until('no turn goes on', areOver, RESET_MS).catch(() => undefined);
  }

  async #endTask(id: string): Promise<void> {
    await fetch(`${this.agent.url}/experimental/tasks/${id}/cancel`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.agent.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ force: true }),
    });
  }

  /** What is so stays so, for longer than a bot takes to do what it must not. */
  async expectStays<T>(look: () => T, expected: T): Promise<void> {
    for (const end = performance.now() + QUIET_MS; performance.now() < end; await pause(POLL_INTERVAL_MS)) {
      expectEqual(look(), expected);
    }
  }

  /** Slack has told the bot everything, and it does not reply in these threads. */
  async expectNoReply(channel: Channel, ...roots: Message[]): Promise<void> {
    await this.slack.settled();
    await this.expectStays(() => roots.flatMap((root) => this.replies(channel, root)), []);
  }
}

/** A look at the database that it was too busy for has seen nothing. */
function undefinedInOutage(error: unknown): undefined {
  if (!(error instanceof StoreError && error.code === 'unavailable')) throw error;
}

function expectEqual(seen: unknown, expected: unknown): void {
  expect(seen).toEqual(expected);
}

/** Time that passes in what is tested itself; for what must not happen there is `expectStays`. */
export async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * A bot between a Slack workspace and an agent service, on a database of its own, gone with the test file: call it at the top
 * of one or in a `describe`, where `afterAll` still counts; with `onTestFinished` for a scene of one test.
 */
export async function openAppScene(
  options: Partial<InProcessSandboxOptions> = {},
  whenDone: (close: () => Promise<void>) => void = afterAll,
): Promise<AppScene> {
  const connection = await copyTemplateDatabase();
  const turnEnds = new EventEmitter();
  const sandbox = await startInProcessSandbox({
    log: pino({ level: process.env.TEST_LOG ?? 'silent' }),
    databaseUrl: connectionUrl(connection),
    onTurnStep: ({ message_ts }, step) => void (step === 'finished' && turnEnds.emit(message_ts)),
    ...options,
    limits: { refusalMs: 500, ...IMPATIENT_LIMITS, ...PATIENT_LOOKUPS, ...UNWATCHED, ...options.limits },
    // What is said at once is read and posted once; what has to grow is written slowly by its test, or by `/slow`.
    agent: { pace: 0.02, writingPace: 0, ...options.agent },
    // Longer than Slack's 3 s, for machines that are busy; what is late all the same comes again within seconds.
    slack: { limits: 'off', triggerMs: 60_000, ackTimeoutMs: 20_000, retryScale: 0.02, ...options.slack },
    settings: { ...FEW_CONNECTIONS, ...options.settings },
  });
  const scene = new AppScene(sandbox, turnEnds);
  const close = async () => {
    await sandbox.stop();
    await dropDatabase(connection);
  };
  closeWhenDone(connection.database, close, whenDone);
  if (whenDone === afterAll) prepareRetries(scene);
  return scene;
}

/** A test that is tried once more begins as at first: what the failed attempt changed is undone, and not found by its title. */
function prepareRetries(scene: AppScene): void {
  let known = new Set<string>();
  beforeEach(() => {
    known = new Set(scene.agent.tasks.map(({ id }) => id));
  });
  afterEach(async ({ task: test }) => {
    // Others that run beside it may need what it changed.
    if (test.result?.state !== 'fail' || test.concurrent === true) return;
    await scene.reset();
    for (const task of scene.agent.tasks.filter(({ id }) => !known.has(id)))
      Object.assign(task, { title: `(left by a failed attempt) ${task.title}` });
  });
}
