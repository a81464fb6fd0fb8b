import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { BotProcess, startBotProcess } from '../sandbox/bot-process.ts';
import { limitsSetting } from '../sandbox/bot-settings.ts';
import { startLoadBalancer } from '../sandbox/chaos/load-balancer.ts';
import { startSandboxServices } from '../sandbox/sandbox-services.ts';
import type { Channel, Person, SlackWorkspace } from '../sandbox/slack/slack-workspace.ts';
import { readConfig } from '../src/config/environment-and-secret-files.ts';
import { RELAY_LIMITS } from '../src/limits.ts';
import { encryptTokens } from '../src/relay/installations/token-rotation.ts';
import { openDatabase } from '../src/store/database.ts';
import { Store } from '../src/store/store.ts';
import { Keyring } from '../src/store/workspaces/encryption.ts';
import { type CountingServer, processCpuMs, startCountingServer, type Totals } from './database-server.ts';
import { residentBytes } from './process-memory.ts';
import { round } from './statistics.ts';

const IDLE_WORKSPACES = [1, 1_000];
const CHANNELS_PER_WORKSPACE = 10;
/** Turns before the measurement: connections are open, statements prepared, and most of the code compiled. */
const WARM_UP_TURNS = 100;
const SHORT_WARM_UP_TURNS = 10;
/** Turns under way at once when the most turns a second are measured, the workspaces that they are spread over, and how long. */
const TURNS_AT_ONCE = 60;
const BUSY_WORKSPACES = 40;
const BUSY_MS = 30_000;
const EDITS = 6;
const LONG_TURNS = 2;
/** Turns of the bot and of the bare one, in turn. */
const RATIO_ROUNDS = 4;
const RATIO_TURNS = 15;
/** What no measurement is to meet; and so that no look at a task falls into one. */
const UNHURRIED = { editsPerMinute: 10_000, readsPerSecond: 1_000 };
const UNWATCHED = { ...UNHURRIED, watchIntervalMs: 3_600_000 };
const BARE_PROGRAM = fileURLToPath(new URL('bare-bot.ts', import.meta.url));
/** One watch of an hour in one minute. */
const WATCH_SPEED = 60;
const TURN_TIMEOUT_MS = 60_000;
/** Permits, and changes of posts and turns. */
const OF_REPLIES = /rate_limits|(update|insert into) "?(posts|turns)/;

interface Place {
  channel: Channel;
  person: Person;
  botUserId: string;
}

/** What turns took, less what the bot does when idle. */
type Cost = Omit<Totals, 'connections'> & { botCpuMs: number; seconds: number };

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      turns: { type: 'string' },
      /** Of idling: what a bot does once a minute belongs to it. */
      seconds: { type: 'string' },
      list: { type: 'boolean', default: false },
      /** Only what one turn and an edit cost, less exactly: a turn takes more than a second here. */
      short: { type: 'boolean', default: false },
    },
  });
  const { list, short, turns = short ? '10' : '50', seconds = short ? '15' : '60' } = values;
  await using undo = new AsyncDisposableStack();
  const bench = await DatabaseBench.start(undo, Number(seconds) * 1_000);
  const cost = await bench.turnCost(Number(turns), { list, short });
  console.table(cost);
  const whole = short ? {} : await bench.wholeCost();
  console.log(JSON.stringify({ bench: 'database', ...cost, ...whole }));
}

/** Bots on one database, and people who ask them. */
class DatabaseBench {
  readonly #slack: SlackWorkspace;
  readonly #server: CountingServer;
  readonly #settings: Record<string, string>;
  readonly #folder: string;
  readonly #places: Place[];
  readonly #idleMs: number;
  /** Those that get events. */
  #bots: BotProcess[] = [];
  #asked = 0;
  #installed = 0;

  private constructor(parts: {
    slack: SlackWorkspace;
    server: CountingServer;
    settings: Record<string, string>;
    folder: string;
    idleMs: number;
  }) {
    this.#slack = parts.slack;
    this.#server = parts.server;
    this.#settings = parts.settings;
    this.#folder = parts.folder;
    this.#idleMs = parts.idleMs;
    const teams = this.#slack.teams.slice(0, BUSY_WORKSPACES);
    this.#places = teams.flatMap((team) => this.#newPlaces(team, 'bench'));
  }

  #newPlaces(team: SlackWorkspace['teams'][number], name: string): Place[] {
    const person = this.#slack.createPerson({ name: 'ada', teamId: team.id });
    return Array.from({ length: CHANNELS_PER_WORKSPACE }, (_, index) => ({
      person,
      channel: this.#slack.createChannel({ name: `${name}-${index}`, teamId: team.id }),
      botUserId: team.bot.userId,
    }));
  }

  static async start(undo: AsyncDisposableStack, idleMs: number): Promise<DatabaseBench> {
    const most = Math.max(...IDLE_WORKSPACES);
    const teams = Array.from({ length: most }, (_, index) => ({ name: `Workspace ${index}` }));
    const { slack, settings, folder } = await startSandboxServices(
      {
        transport: 'http',
        oauth: true,
        slack: { teams, limits: 'off' },
        agent: {
          script: async (turn) => {
            const [, question = '', steps = '0'] = /question (\d+) steps (\d+)/.exec(turn.text) ?? [];
            for (let step = 0; step < Number(steps); step += 1) {
              turn.write(`Line ${step}.\n`);
              await turn.sleep(3_500);
            }
            // No two answers are the same: the bot may remember what it has rendered.
            turn.write(`The answer to question ${question} is **42**.`);
          },
        },
        settings: limitsSetting(UNWATCHED),
      },
      undo,
    );
    const server = await startCountingServer(join(folder, 'data'), undo);
    const bench = new DatabaseBench({
      slack,
      server,
      settings: { ...settings, DATABASE_URL: server.url },
      folder,
      idleMs,
    });
    undo.defer(() => bench.#stopBots());
    let next = 0;
    const balancer = await startLoadBalancer(() => {
      next += 1;
      return bench.#bots[next % bench.#bots.length]?.port;
    });
    undo.defer(() => balancer.stop());
    await bench.#install(1);
    await bench.#startBot();
    await slack.useHttp({ eventsUrl: balancer.eventsUrl });
    return bench;
  }

  /** What a new thread's turn costs, and an edit of a live reply. */
  async turnCost(turns: number, { list, short: isShort }: { list: boolean; short: boolean }) {
    const own = this.#places.slice(0, CHANNELS_PER_WORKSPACE);
    await this.#askInTurn(own, isShort ? SHORT_WARM_UP_TURNS : WARM_UP_TURNS);
    const idle = await this.#measure(() => sleep(this.#idleMs));
    const idleMiB = Math.round((await residentBytes(this.#bots[0]?.pid ?? 0)) / 1_048_576);
    await this.#server.reset();
    const short = await this.#measure(() => this.#askInTurn(own, turns));
    if (list)
      for (const { calls, walBytes, query } of await this.#server.statements()) {
        const figures = [round(calls / turns, 2), round(walBytes / turns, 0)].map((one) =>
          `${one}`.padStart(6),
        );
        console.log(...figures, query.replace(/\s+/g, ' ').slice(0, 300));
      }
    const perTurn = perRound(withoutIdle(short, idle), turns);
    const ownPerTurn = (await this.#statementsOfReplies()) / turns;
    await this.#server.reset();
    const edited = () => this.#slack.calls.filter(({ method }) => method === 'chat.update').length;
    const before = edited();
    await this.#askInTurn(own, LONG_TURNS, EDITS);
    const edits = (edited() - before) / LONG_TURNS;
    const ownPerLongTurn = (await this.#statementsOfReplies()) / LONG_TURNS;
    return {
      idleMiB,
      statementsPerTurn: round(perTurn.statements, 1),
      writingTransactionsPerTurn: round(perTurn.writes, 1),
      walBytesPerTurn: round(perTurn.walBytes, 0),
      postgresCpuMsPerTurn: round(perTurn.postgresCpuMs, 1),
      botCpuMsPerTurn: round(perTurn.botCpuMs, 1),
      botCpuRatio: isShort ? undefined : await this.#botCpuRatio(own, idle),
      statementsPerEdit: round((ownPerLongTurn - ownPerTurn) / (edits - 1), 1),
      connections: (await this.#server.totals()).connections,
    };
  }

  /** The bot's CPU for a turn, as a multiple of what a bare Bolt app takes that makes the same calls. */
  async #botCpuRatio(places: readonly Place[], idle: Cost): Promise<number> {
    const [team] = this.#slack.teams;
    if (team === undefined) throw new Error('There is no workspace.');
    // The bot would read back and answer what the other one was asked in its channels.
    const barePlaces = this.#newPlaces(team, 'bare');
    const own = this.#bots;
    await using undo = new AsyncDisposableStack();
    const settings = { ...this.#settings, SLACK_BOT_TOKEN: team.installation.token };
    const bare = await startBotProcess(settings, join(this.#folder, 'bare.log'), undo, BARE_PROGRAM);
    undo.defer(() => {
      this.#bots = own;
    });
    const askOwn = async () => {
      this.#bots = own;
      return this.#measure(() => this.#askInTurn(places, RATIO_TURNS));
    };
    const askBare = async (turns: number) => {
      this.#bots = [bare];
      return this.#measure(() => this.#askInTurn(barePlaces, turns));
    };
    await askBare(WARM_UP_TURNS);
    const used = { own: 0, bare: 0 };
    for (let count = 0; count < RATIO_ROUNDS; count += 1) {
      used.own += withoutIdle(await askOwn(), idle).botCpuMs;
      used.bare += (await askBare(RATIO_TURNS)).botCpuMs;
    }
    return round(used.own / used.bare, 1);
  }

  /** Statements about permits, posts and turns since the last reset: an idle bot has none of them. */
  async #statementsOfReplies(): Promise<number> {
    const all = await this.#server.statements();
    return all.reduce((sum, { query, calls }) => sum + (OF_REPLIES.test(query) ? calls : 0), 0);
  }

  /** What watching and idling cost, and how many turns two processes manage. */
  async wholeCost() {
    const idling: Cost[] = [];
    let watchStatementsPerHour: number | undefined;
    for (const count of IDLE_WORKSPACES) {
      await this.#stopBots();
      await this.#install(count);
      await this.#startIdleBot();
      const idle = await this.#measure(() => sleep(this.#idleMs));
      idling.push(idle);
      // With the fewest workspaces: for minutes after a restart, the bot looks at each for what it missed.
      watchStatementsPerHour ??= await this.#watchCost(idle);
    }
    return {
      watchStatementsPerHour,
      idleStatementsPerSecond: idling.map(({ statements, seconds }) => round(statements / seconds, 1)),
      idleWorkspaces: IDLE_WORKSPACES,
      turnsPerSecond: await this.#turnsPerSecond(),
    };
  }

  /** Statements of watching one task for an hour after its answer, measured in a minute, less those of the same idle bot. */
  async #watchCost(idle: Cost): Promise<number> {
    await this.#stopBots();
    const { watchMs, watchIntervalMs } = RELAY_LIMITS;
    const scaled = { watchMs: watchMs / WATCH_SPEED, watchIntervalMs: watchIntervalMs / WATCH_SPEED };
    await this.#startIdleBot(limitsSetting({ ...UNHURRIED, ...scaled }));
    await this.#ask(this.#places[0], 0);
    const watched = await this.#measure(() => sleep(3_600_000 / WATCH_SPEED + 2_000));
    return round(withoutIdle(watched, idle).statements, 0);
  }

  /** The most short turns that two processes finish in a second. */
  async #turnsPerSecond(): Promise<number> {
    await this.#stopBots();
    await Promise.all([this.#startBot(), this.#startBot()]);
    const until = performance.now() + BUSY_MS;
    let finished = 0;
    const askUntilEnd = async (lane: number) => {
      for (let index = lane; performance.now() < until; index += TURNS_AT_ONCE) {
        await this.#ask(this.#places[index % this.#places.length], 0);
        if (performance.now() < until) finished += 1;
      }
    };
    const { seconds } = await this.#measure(() =>
      Promise.all(Array.from({ length: TURNS_AT_ONCE }, (_, lane) => askUntilEnd(lane))),
    );
    return round(finished / Math.min(seconds, BUSY_MS / 1_000), 1);
  }

  /** Asks so many times, one after the other, in each place in turn. */
  async #askInTurn(places: readonly Place[], turns: number, steps = 0): Promise<void> {
    for (let index = 0; index < turns; index += 1) await this.#ask(places[index % places.length], steps);
  }

  /** Asks in a new thread, and waits until the reply has its final form and the turn has ended. */
  async #ask(place: Place | undefined, steps: number): Promise<void> {
    if (place === undefined) throw new Error('There is no channel to ask in.');
    const { channel, person, botUserId } = place;
    this.#asked += 1;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => reject(new Error('A turn did not end.')), TURN_TIMEOUT_MS);
    const text = `<@${botUserId}> question ${this.#asked} steps ${steps}`;
    const { ts } = this.#slack.say({ person, channel, text });
    const unsubscribe = this.#slack.onChange(({ message }) => {
      const isReply = message.threadTs === ts && message.user === botUserId;
      if (isReply && !/"stop"/.test(JSON.stringify(message.blocks))) resolve();
    });
    await promise.finally(() => {
      clearTimeout(timer);
      unsubscribe();
    });
    // The turn ends just after its last edit.
    await sleep(100);
  }

  async #measure(work: () => Promise<unknown>): Promise<Cost> {
    const read = async () => ({ ...(await this.#server.totals()), botCpuMs: await this.#botCpuMs() });
    const before = await read();
    const startedAt = performance.now();
    await work();
    const seconds = (performance.now() - startedAt) / 1_000;
    const after = await read();
    return {
      seconds,
      statements: after.statements - before.statements,
      writes: after.writes - before.writes,
      walBytes: after.walBytes - before.walBytes,
      postgresCpuMs: after.postgresCpuMs - before.postgresCpuMs,
      botCpuMs: after.botCpuMs - before.botCpuMs,
    };
  }

  async #botCpuMs(): Promise<number> {
    const all = await Promise.all(this.#bots.map(({ pid }) => processCpuMs(pid)));
    return all.reduce((sum, ms) => sum + ms, 0);
  }

  async #startBot(more: Record<string, string> = {}): Promise<void> {
    const bot = new BotProcess({ ...this.#settings, ...more }, join(this.#folder, 'bot.log'));
    if (!(await bot.ready())) throw new Error('The bot did not start.');
    this.#bots.push(bot);
  }

  /** Starts the bot without what would keep it busy for minutes: reading back, in each thread, what it may have missed. */
  async #startIdleBot(more: Record<string, string> = {}): Promise<void> {
    await this.#startBot(more);
    do await sleep(3_000);
    while ((await this.#server.deleteDueJobs()) > 0);
  }

  async #stopBots(): Promise<void> {
    await Promise.all(this.#bots.splice(0).map((bot) => bot.stop()));
  }

  /** Installs the app in the first `count` workspaces, as OAuth does. */
  async #install(count: number): Promise<void> {
    const keyring = new Keyring(readConfig(this.#settings).SECRET_KEY ?? []);
    const database = await openDatabase({ url: this.#settings.DATABASE_URL, log: pino({ level: 'silent' }) });
    const store = new Store(database.kysely);
    for (const { id, name, bot, installation } of this.#slack.teams.slice(this.#installed, count)) {
      await store.installations.put({
        workspace: id,
        is_enterprise_install: false,
        name,
        enterprise_id: null,
        bot_user_id: bot.userId,
        bot_id: bot.botId,
        encrypted_tokens: encryptTokens(keyring, id, { bot: { token: installation.token } }),
        token_expires_at: null,
      });
    }
    this.#installed = Math.max(this.#installed, count);
    await database.close();
  }
}

function withoutIdle(cost: Cost, idle: Cost): Cost {
  const less = (key: keyof Cost) => cost[key] - (idle[key] * cost.seconds) / idle.seconds;
  return {
    seconds: cost.seconds,
    statements: less('statements'),
    writes: less('writes'),
    walBytes: less('walBytes'),
    postgresCpuMs: less('postgresCpuMs'),
    botCpuMs: less('botCpuMs'),
  };
}

function perRound(cost: Cost, rounds: number): Cost {
  return {
    seconds: cost.seconds / rounds,
    statements: cost.statements / rounds,
    writes: cost.writes / rounds,
    walBytes: cost.walBytes / rounds,
    postgresCpuMs: cost.postgresCpuMs / rounds,
    botCpuMs: cost.botCpuMs / rounds,
  };
}
