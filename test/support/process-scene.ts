import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { AgentScript } from '../../sandbox/agent/agent-script.ts';
import { type AgentService, startAgentService } from '../../sandbox/agent/agent-service.ts';
import { BotProcess, compileCacheSettings } from '../../sandbox/bot-process.ts';
import { chaosSettings } from '../../sandbox/bot-settings.ts';
import { type DatabaseConnection, embeddedConnection } from '../../sandbox/chaos/bot-database.ts';
import { DAMAGE_KINDS, type Damage, findDamage, type SaidMessage } from '../../sandbox/chaos/damage.ts';
import { DatabaseObserver } from '../../sandbox/chaos/database-observer.ts';
import { CallNotifier, type FaultTarget, ObservedFaults } from '../../sandbox/chaos/fault-profile.ts';
import { collectFindings } from '../../sandbox/chaos/findings.ts';
import {
  type Channel,
  type Message,
  type Person,
  type SlackWorkspace,
  startSlackWorkspace,
} from '../../sandbox/slack/slack-workspace.ts';
import { FEW_CONNECTIONS, pause } from './app-scene.ts';
import { copyTemplateDatabase } from './fresh-database.ts';

/** Far more than it takes, for machines that are busy. */
const TIMEOUT_MS = 100_000;

/** Has something done at the end of a test. */
type WhenDone = (close: () => Promise<void>) => void;

/** Real processes of the bot on one database, and people who talk to them. */
export class ProcessScene {
  readonly slack: SlackWorkspace;
  readonly agent: AgentService;
  readonly said: SaidMessage[] = [];
  readonly observer: DatabaseObserver;
  readonly #settings: Record<string, string>;
  readonly #callNotifier: CallNotifier;
  readonly #logs: string;
  readonly #ada: Person;
  readonly #channels: Channel[];
  readonly #whenDone: WhenDone;
  readonly #finish: () => void;
  readonly #connectionOf: () => Promise<DatabaseConnection>;
  #spawned = 0;

  constructor(deps: {
    slack: SlackWorkspace;
    agent: AgentService;
    callNotifier: CallNotifier;
    settings: Record<string, string>;
    logs: string;
    connectionOf: () => Promise<DatabaseConnection>;
    finish: () => void;
    whenDone: WhenDone;
  }) {
    this.slack = deps.slack;
    this.agent = deps.agent;
    this.#callNotifier = deps.callNotifier;
    this.#settings = deps.settings;
    this.#logs = deps.logs;
    this.#finish = deps.finish;
    this.#whenDone = deps.whenDone;
    this.#connectionOf = deps.connectionOf;
    this.observer = new DatabaseObserver(deps.connectionOf);
    this.#ada = this.slack.createPerson({ name: 'ada' });
    // Several, because Slack takes one post a second and channel.
    this.#channels = ['east', 'west', 'north', 'south'].map((name) => this.slack.createChannel({ name }));
  }

  /** Another process of the bot, which may not take events yet; `program` is run in its place. */
  spawn(program?: string, settings: Record<string, string> = {}, stdout?: number): BotProcess {
    this.#spawned += 1;
    const log = join(this.#logs, `bot-${this.#spawned}.log`);
    const bot = new BotProcess({ ...this.#settings, ...settings }, log, program, stdout);
    this.#whenDone(async () => {
      if (bot.alive) await bot.kill();
    });
    return bot;
  }

  /** Another process of the bot; resolves when it takes events. */
  async start(program?: string, settings: Record<string, string> = {}): Promise<BotProcess> {
    const bot = this.spawn(program, settings);
    if (!(await bot.ready())) throw new Error(`The bot did not start; its log is in ${this.#logs}.`);
    return bot;
  }

  /** Ada asks for a reply that takes so many seconds; the answer is the thread's root. */
  ask(text: string, seconds = 0): Message {
    return this.#say(`${text} for ${seconds} s`, undefined);
  }

  /** Ada says something more in a thread. */
  reply(root: Message, text: string): Message {
    return this.#say(`${text} in ${root.ts} for 0 s`, root);
  }

  /** Ada asks for a reply that goes on until `finishReplies`. */
  askWithoutEnd(text: string): Message {
    return this.ask(text, 600);
  }

  /** The agent ends every reply, also those that begin later, with the next word. */
  finishReplies(): void {
    this.#finish();
  }

  /** The bot's messages in a thread. */
  replies(root: Message): Message[] {
    const thread = this.slack.thread(this.#channelOf(root).id, root.ts);
    return thread.filter(({ user }) => user === this.slack.bot.userId);
  }

  /** How many characters of ours a thread shows. */
  length(root: Message): number {
    return this.replies(root).reduce((sum, message) => sum + this.slack.visibleText(message).length, 0);
  }

  /** Whether a thread shows some of its first reply, and goes on. */
  grows(root: Message): boolean {
    return this.replies(root).some((message) => this.slack.visibleText(message).includes('Word'));
  }

  /** Resolves in the moment in which such a call arrives. */
  async waitForCall(place: FaultTarget, call: RegExp): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#callNotifier.onNext(place, call, resolve);
    });
  }

  /** Waits until something is so. */
  async until(what: string, look: () => boolean): Promise<void> {
    const deadline = performance.now() + TIMEOUT_MS;
    while (!look()) {
      if (performance.now() > deadline) throw new Error(`This did not happen: ${what} (${this.#logs})`);
      await pause(20);
    }
  }

  /** Milliseconds until the task of each thread is asked for at the service, from now on. */
  async takenUpAfter(roots: readonly Message[]): Promise<number> {
    const began = performance.now();
    const waiting = new Set(
      roots.map(({ ts }) => {
        const said = this.said.find((message) => message.ts === ts);
        return this.agent.tasks.find(({ title }) => title === said?.text)?.id ?? '';
      }),
    );
    const unsubscribe = this.agent.onCall(({ path }) => {
      for (const id of waiting) if (path.includes(id)) waiting.delete(id);
    });
    await this.until('every task is taken up', () => waiting.size === 0);
    unsubscribe();
    return performance.now() - began;
  }

  /** What is wrong when everything is done: kinds of damage with their sentences. */
  async damage(): Promise<Partial<Damage>> {
    const said = { said: this.said, names: ['ada'] };
    const { findings } = await collectFindings(this.slack, this.agent, this.observer, said);
    const damage = findDamage(findings);
    const found = DAMAGE_KINDS.filter((kind) => damage[kind].length > 0);
    return Object.fromEntries(found.map((kind) => [kind, damage[kind]]));
  }

  /** The rows that a statement finds in the database. */
  async query(text: string): Promise<pg.QueryResultRow[]> {
    const client = new pg.Client(await this.#connectionOf());
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }

  #say(text: string, root: Message | undefined): Message {
    const person = this.#ada;
    const channel = root === undefined ? this.#nextChannel() : this.#channelOf(root);
    const message =
      root === undefined
        ? this.slack.say({ person, channel, text: `<@${this.slack.bot.userId}> ${text}` })
        : this.slack.say({ person, channel, text, thread: root.ts });
    const thread = `${channel.id}/${root?.ts ?? message.ts}`;
    this.said.push({ thread, channel: channel.id, ts: message.ts, text, files: [] });
    return message;
  }

  #nextChannel(): Channel {
    const [room, ...others] = this.#channels;
    if (room === undefined) throw new Error('There is no room.');
    this.#channels.splice(0, this.#channels.length, ...others, room);
    return room;
  }

  #channelOf(root: Message): Channel {
    const { channel } = this.said.find(({ ts }) => ts === root.ts) ?? {};
    const room = this.#channels.find(({ id }) => id === channel);
    if (room === undefined) throw new Error(`Nobody said ${root.ts}.`);
    return room;
  }
}

/**
 * Starts a scene on a database of its own, or with an embedded one for each process; removed after the test. Without a `script`,
 * the agent writes words.
 */
export async function openProcessScene(
  whenDone: WhenDone,
  where: 'shared' | 'embedded' = 'shared',
  script?: AgentScript,
): Promise<ProcessScene> {
  const folder = await mkdtemp(join(tmpdir(), 'taskthread-scene-'));
  // The embedded server of a process that was killed may still be on its way out.
  whenDone(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  // Where we are root, the database's own user must get to its folder.
  await chmod(folder, 0o711);
  const callNotifier = new CallNotifier();
  const observed = (place: FaultTarget) =>
    new ObservedFaults(Math.random, (call) => callNotifier.notify(place, call));
  const slack = await startSlackWorkspace({
    limits: 'off',
    retryScale: 1 / 60,
    clientMsgIdDedupe: false,
    faults: observed('slack'),
  });
  whenDone(() => slack.stop());
  let isFinishing = false;
  const agent = await startAgentService({
    script: script ?? writerUntil(() => isFinishing),
    faults: observed('agent'),
  });
  whenDone(() => agent.stop());
  const dataFolder = join(folder, 'data');
  const shared = where === 'shared' ? await copyTemplateDatabase() : undefined;
  const settings = {
    ...(await compileCacheSettings(join(folder, 'compiled'))),
    ...chaosSettings(slack, agent, 'socket', shared ?? { dataFolder }),
    ...FEW_CONNECTIONS,
  };
  const connectionOf = async () => shared ?? embeddedConnection(dataFolder);
  const finish = () => {
    isFinishing = true;
  };
  const crew = new ProcessScene({
    slack,
    agent,
    callNotifier,
    settings,
    logs: folder,
    connectionOf,
    finish,
    whenDone,
  });
  whenDone(() => crew.observer.stop());
  return crew;
}

/** The agent writes a word every half second, for as long as it is asked to, or until it is to finish. */
const writerUntil =
  (isFinishing: () => boolean): AgentScript =>
  async (turn) => {
    const seconds = Number(/for (\d+) s$/.exec(turn.text)?.[1] ?? 0);
    const earlier = turn.history.filter(({ role }) => role === 'user').length;
    turn.write(`Begin of ${earlier} to ${turn.text}.\n\n`);
    for (let word = 1; word <= seconds * 2 && !isFinishing(); word += 1) {
      turn.write(`Word ${word}. `);
      await turn.sleep(500);
    }
    turn.write(`\n\nEnd of ${earlier} to ${turn.text}.`);
  };
