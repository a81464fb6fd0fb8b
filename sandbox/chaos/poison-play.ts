import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Block, textOf } from '../agent/records.ts';
import { type Message, type SlackWorkspace, seededRandom } from '../slack/slack-workspace.ts';
import type { DatabaseConnection } from './bot-database.ts';
import { Conversation } from './conversation.ts';
import { DAMAGE_KINDS, type Damage, type Findings, findDamage } from './damage.ts';
import { DatabaseObserver } from './database-observer.ts';
import { collectFindings } from './findings.ts';
import { DONE, type PoisonKind } from './poison-kinds.ts';
import {
  countedBy,
  ORDINARY_TEAMS,
  POISON_WORD,
  type PoisonScene,
  startPoisonScene,
} from './poison-scene.ts';

const WARM_UP_TIMEOUT_MS = 60_000;
const POLL_INTERVAL_MS = 250;
/** The end of each reply of the chaos agent. */
const REPLY_END = /Reply \w+ ends\./;
/** What became of one bad thing, and of the others beside it. */
export interface PoisonOutcome {
  /** How much longer others waited than beside nothing bad; 19 of 20 messages less than this. */
  othersDelayedP95Seconds: number;
  /** Until it ended or was passed over; null if it did neither in time. */
  endedAfterSeconds: number | null;
  /** Whether its people read what became of it. */
  told: boolean;
  /** Whether a metric counted it. */
  counted: boolean;
}

const MESSAGES = 12;
const PAUSE_MS = 3_000;

export interface PoisonPlayOptions {
  name: string;
  /** What is bad; nothing by default. */
  kind: PoisonKind | undefined;
  seed: number;
  /** Folder for the bot's logs. */
  logs: string;
  /** Messages in each workspace, and how long people wait between two (ms, on average). */
  messages?: number;
  pauseMs?: number;
  /** How long the bad thing may take to be over (s). */
  limitSeconds: number;
  /** More of the bot's environment. */
  settings: Readonly<Record<string, string>>;
  database: DatabaseConnection;
}

/** Ordinary conversations in five workspaces, beside one bad thing or none. */
export class PoisonPlay {
  readonly #options: PoisonPlayOptions;
  readonly #scene: PoisonScene;
  readonly #observer: DatabaseObserver;
  readonly #undo: AsyncDisposableStack;
  readonly #shownAt: ReadonlyMap<string, number>;
  readonly #people: { random: () => number; conversation: Conversation }[];
  #bad: Message[] = [];
  #ended: Promise<number | null> = Promise.resolve(null);
  #countedBefore = 0;

  private constructor(
    options: PoisonPlayOptions,
    scene: PoisonScene,
    observer: DatabaseObserver,
    undo: AsyncDisposableStack,
  ) {
    this.#options = options;
    this.#scene = scene;
    this.#observer = observer;
    this.#undo = undo;
    const { slack } = scene;
    this.#shownAt = watchReplies(slack);
    this.#people = slack.teams
      .filter(({ id }) => ORDINARY_TEAMS.includes(id))
      .map((team, at) => {
        const random = seededRandom(options.seed * 31 + at);
        return { random, conversation: new Conversation(slack, random, { team, maxChannels: 4 }) };
      });
  }

  /**
   * Starts everything, and lets each part be used once. Then each workspace misses a message while there is no bot. `undo`
   * stops everything that `stop` has not stopped.
   */
  static async prepare(options: PoisonPlayOptions, undo: AsyncDisposableStack): Promise<PoisonPlay> {
    const { seed, database, settings, kind, logs, name } = options;
    const own = undo.use(new AsyncDisposableStack());
    const answer = kind?.answer ?? (async (turn) => turn.write(DONE));
    const ownService = kind?.ownService ?? false;
    const logFile = join(logs, `${name}.log`);
    const scene = await startPoisonScene({ seed, database, settings, ownService, answer, logFile }, own);
    const observer = new DatabaseObserver(async () => database);
    own.defer(() => observer.stop());
    await observer.start();
    const play = new PoisonPlay(options, scene, observer, own);
    await play.#warmUp();
    return play;
  }

  async #warmUp(): Promise<void> {
    const conversations = this.#people.map(({ conversation }) => conversation);
    this.#scene.ask('first');
    for (const conversation of conversations) conversation.sayOne();
    const deadline = performance.now() + WARM_UP_TIMEOUT_MS;
    const observer = this.#observer;
    while ((await observer.turns()).length <= conversations.length || (await observer.unfinished()) > 0) {
      if (performance.now() > deadline) throw new Error('The first messages were not answered.');
      await sleep(POLL_INTERVAL_MS);
    }
    await this.#scene.restartBot(async () => {
      await this.#scene.database.query(
        "update workspaces set last_receiving_at = now() - interval '10 minutes'",
      );
      for (const conversation of conversations) conversation.replyOne();
    });
  }

  /**
   * Makes the thing bad, and lets people talk. Adds what they suffered to `damage`; returns the seconds from each message
   * to the end of its answer. Its key is the same in each play of a seed.
   */
  async talk(damage: Damage): Promise<Map<string, number>> {
    const { kind, messages = MESSAGES, pauseMs = PAUSE_MS } = this.#options;
    if (kind !== undefined) {
      this.#countedBefore = await countedBy(this.#scene, kind.counted);
      this.#bad = await kind.begin(this.#scene);
      this.#ended = this.#untilOver(kind);
      this.#ended.catch(() => undefined);
    }
    const talks = this.#people.map(async ({ conversation, random }) => {
      for (let said = 0; said < messages; said += 1) {
        conversation.sayOne();
        await sleep(random() * 2 * pauseMs);
      }
    });
    await Promise.all(talks);
    const people = {
      said: this.#people.flatMap(({ conversation }) => conversation.said),
      names: this.#people.flatMap(({ conversation }) => conversation.names),
    };
    const others = withoutPoison(this.#scene, this.#observer);
    const { findings } = await collectFindings(this.#scene.slack, others.service, others.rows, people);
    const found = findDamage(findings);
    for (const one of DAMAGE_KINDS)
      damage[one].push(...found[one].map((sentence) => `${this.#options.name}: ${sentence}`));
    return this.#lagsOf(findings);
  }

  /** Waits until the bad thing is over, or has had its time, and tells what became of it. */
  async outcome(): Promise<Omit<PoisonOutcome, 'othersDelayedP95Seconds'>> {
    const { kind } = this.#options;
    const endedAfterSeconds = await this.#ended;
    return {
      endedAfterSeconds,
      told: kind?.told.test(this.#scene.read(this.#bad)) ?? false,
      counted: kind !== undefined && (await countedBy(this.#scene, kind.counted)) > this.#countedBefore,
    };
  }

  /** Stops the bot and everything else. */
  async stop(damage: Damage): Promise<void> {
    const { bot } = this.#scene;
    const problem = bot.alive ? !(await bot.stop()) && 'did not stop in time' : 'ended';
    if (problem) damage.stuck.push(`${this.#options.name}: the process ${problem}`);
    await this.#undo.disposeAsync();
  }

  /** How long that takes (s); null if it takes too long. */
  async #untilOver(kind: PoisonKind): Promise<number | null> {
    const began = performance.now();
    while (secondsSince(began) <= this.#options.limitSeconds) {
      if (await (kind.isOver ?? isFinished)(this.#scene, this.#bad)) return secondsSince(began);
      await sleep(POLL_INTERVAL_MS);
    }
    return null;
  }

  /** Seconds from each message to the end of its answer. */
  #lagsOf({ said, tasks }: Findings): Map<string, number> {
    const lags = new Map<string, number>();
    for (const { messages, replies } of tasks) {
      for (const [at, { text }] of messages.entries()) {
        const same = messages.slice(0, at).filter((other) => other.text === text).length;
        const message = said.filter((one) => one.text === text)[same];
        const shown = this.#shownAt.get(REPLY_END.exec(replies[at] ?? '')?.[0] ?? '');
        if (message !== undefined && shown !== undefined)
          lags.set(`${same} ${text}`, shown / 1_000 - Number(message.ts));
      }
    }
    return lags;
  }
}

function isFinished(scene: PoisonScene, messages: readonly Message[]): boolean {
  return scene.isFinished(messages);
}

/** The service and the bot's rows as the others know them. */
function withoutPoison({ agent, channel }: PoisonScene, observer: DatabaseObserver) {
  const isPoison = ({ content }: { content: Block[] }) => textOf(content).includes(POISON_WORD);
  return {
    service: {
      get tasks() {
        return agent.tasks.filter(({ messages }) => !messages.some(isPoison));
      },
      get files() {
        return agent.files;
      },
    },
    rows: {
      unfinished: () => observer.unfinished(channel.id),
      turns: () => observer.turns(),
      get waitingPairs() {
        return observer.waitingPairs;
      },
    },
  };
}

/** When the end of each reply of the agent was shown, in a message that is finished (Unix ms). */
function watchReplies(slack: SlackWorkspace): ReadonlyMap<string, number> {
  const shownAt = new Map<string, number>();
  slack.onChange(({ at, message }) => {
    const [end] = REPLY_END.exec(slack.visibleText(message)) ?? [];
    const isFinished = !JSON.stringify(message.blocks ?? []).includes('"action_id":"stop"');
    if (end !== undefined && isFinished && !shownAt.has(end)) shownAt.set(end, at);
  });
  return shownAt;
}

/** Seconds, to a tenth. */
export function secondsSince(began: number): number {
  return Math.round((performance.now() - began) / 100) / 10;
}
