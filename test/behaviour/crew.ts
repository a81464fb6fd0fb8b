import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentScript } from '../../src/sandbox/agent/script.ts';
import { type AgentService, startAgentService } from '../../src/sandbox/agent/service.ts';
import { BotProcess, compiledIn } from '../../src/sandbox/chaos/bot-process.ts';
import { compare, type Damage, damageKinds, type SaidMessage } from '../../src/sandbox/chaos/comparison.ts';
import { settledFindings } from '../../src/sandbox/chaos/evidence.ts';
import { type Connection, embeddedConnection } from '../../src/sandbox/chaos/ledger.ts';
import { botSettings } from '../../src/sandbox/chaos/settings.ts';
import { Ears, HeardFaults, type Place } from '../../src/sandbox/chaos/weather.ts';
import { Witness } from '../../src/sandbox/chaos/witness.ts';
import {
  type Channel,
  type Message,
  type Person,
  type SlackWorkspace,
  startSlackWorkspace,
} from '../../src/sandbox/slack/workspace.ts';
import { copyOfTemplate } from '../store/postgres.ts';
import { pause } from './scene.ts';

/** Far more than it takes, for machines that are busy. */
const patienceMs = 100_000;

/** Has something done at the end of a test. */
type WhenDone = (close: () => Promise<void>) => void;

/** Real processes of the bot on one database, and people who talk to them. */
export class Crew {
  readonly slack: SlackWorkspace;
  readonly agent: AgentService;
  readonly said: SaidMessage[] = [];
  readonly witness: Witness;
  readonly #settings: Record<string, string>;
  readonly #ears: Ears;
  readonly #logs: string;
  readonly #ada: Person;
  readonly #rooms: Channel[];
  readonly #whenDone: WhenDone;

  constructor(parts: {
    slack: SlackWorkspace;
    agent: AgentService;
    ears: Ears;
    settings: Record<string, string>;
    logs: string;
    connectionOf: () => Promise<Connection>;
    whenDone: WhenDone;
  }) {
    this.slack = parts.slack;
    this.agent = parts.agent;
    this.#ears = parts.ears;
    this.#settings = parts.settings;
    this.#logs = parts.logs;
    this.#whenDone = parts.whenDone;
    this.witness = new Witness(parts.connectionOf);
    this.#ada = this.slack.createPerson({ name: 'ada', realName: 'Ada' });
    // Several, because Slack takes one post a second and channel.
    this.#rooms = ['east', 'west', 'north', 'south'].map((name) => this.slack.createChannel({ name }));
  }

  /** Another process of the bot, which may not take events yet. */
  spawn(): BotProcess {
    const bot = new BotProcess(this.#settings, join(this.#logs, 'bot.log'));
    this.#whenDone(async () => {
      if (bot.alive) await bot.kill();
    });
    return bot;
  }

  /** Another process of the bot; resolves when it takes events. */
  async start(): Promise<BotProcess> {
    const bot = this.spawn();
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

  /** The bot's messages in a thread. */
  replies(root: Message): Message[] {
    const thread = this.slack.thread(this.#roomOf(root).id, root.ts);
    return thread.filter(({ user }) => user === this.slack.bot.userId);
  }

  /** Whether a thread shows some of its first reply, and goes on. */
  grows(root: Message): boolean {
    return this.replies(root).some((message) => this.slack.shown(message).includes('Word'));
  }

  /** Resolves in the moment in which such a call arrives. */
  async hears(place: Place, call: RegExp): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#ears.next(place, call, resolve);
    });
  }

  /** Waits until something is so. */
  async until(what: string, look: () => boolean): Promise<void> {
    const deadline = performance.now() + patienceMs;
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
    const deaf = this.agent.onCall(({ path }) => {
      for (const id of waiting) if (path.includes(id)) waiting.delete(id);
    });
    await this.until('every task is taken up', () => waiting.size === 0);
    deaf();
    return performance.now() - began;
  }

  /** What is wrong when everything is done: kinds of damage with their sentences. */
  async damage(): Promise<Partial<Damage>> {
    const said = { said: this.said, names: ['ada'] };
    const { findings } = await settledFindings(this.slack, this.agent, this.witness, said);
    const damage = compare(findings);
    const found = damageKinds.filter((kind) => damage[kind].length > 0);
    return Object.fromEntries(found.map((kind) => [kind, damage[kind]]));
  }

  #say(text: string, root: Message | undefined): Message {
    const person = this.#ada;
    const channel = root === undefined ? this.#nextRoom() : this.#roomOf(root);
    const message =
      root === undefined
        ? this.slack.say({ person, channel, text: `<@${this.slack.bot.userId}> ${text}` })
        : this.slack.say({ person, channel, text, thread: root.ts });
    const thread = `${channel.id}/${root?.ts ?? message.ts}`;
    this.said.push({ thread, channel: channel.id, ts: message.ts, text, files: [] });
    return message;
  }

  #nextRoom(): Channel {
    const [room, ...others] = this.#rooms;
    if (room === undefined) throw new Error('There is no room.');
    this.#rooms.splice(0, this.#rooms.length, ...others, room);
    return room;
  }

  #roomOf(root: Message): Channel {
    const { channel } = this.said.find(({ ts }) => ts === root.ts) ?? {};
    const room = this.#rooms.find(({ id }) => id === channel);
    if (room === undefined) throw new Error(`Nobody said ${root.ts}.`);
    return room;
  }
}

/** A crew on a database of the test's own, or each on the embedded one; gone with the test. */
export async function openCrew(whenDone: WhenDone, where: 'shared' | 'embedded' = 'shared'): Promise<Crew> {
  const folder = await mkdtemp(join(tmpdir(), 'taskthread-crew-'));
  // The embedded server of a process that was killed may still be on its way out.
  whenDone(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  // Where we are root, the database's own user must get to its folder.
  await chmod(folder, 0o711);
  const ears = new Ears();
  const heard = (place: Place) => new HeardFaults(Math.random, (call) => ears.hear(place, call));
  const slack = await startSlackWorkspace({
    limits: 'off',
    retryScale: 1 / 60,
    clientMsgIdDedupe: false,
    faults: heard('slack'),
  });
  whenDone(() => slack.stop());
  const agent = await startAgentService({ script, faults: heard('agent') });
  whenDone(() => agent.stop());
  const dataFolder = join(folder, 'data');
  const shared = where === 'shared' ? await copyOfTemplate() : undefined;
  const settings = {
    ...(await compiledIn(join(folder, 'compiled'))),
    ...botSettings(slack, agent, 'socket', shared ?? { dataFolder }),
  };
  const connectionOf = async () => shared ?? embeddedConnection(dataFolder);
  const crew = new Crew({ slack, agent, ears, settings, logs: folder, connectionOf, whenDone });
  whenDone(() => crew.witness.stop());
  return crew;
}

/** The agent writes a word every quarter of a second, for as long as it is asked to. */
const script: AgentScript = async (turn) => {
  const seconds = Number(/for (\d+) s$/.exec(turn.text)?.[1] ?? 0);
  const earlier = turn.history.filter(({ role }) => role === 'user').length;
  turn.write(`Begin of ${earlier} to ${turn.text}.\n\n`);
  for (let word = 1; word <= seconds * 4; word += 1) {
    turn.write(`Word ${word}. `);
    await turn.sleep(250);
  }
  turn.write(`\n\nEnd of ${earlier} to ${turn.text}.`);
};
