import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { textOf } from '../agent/records.ts';
import { type Message, type SlackWorkspace, seededRandom } from '../slack/slack-workspace.ts';
import { secondsSince, waitUntil } from '../wait-until.ts';
import type { DatabaseConnection } from './bot-database.ts';
import { Conversation } from './conversation.ts';
import { DAMAGE_KINDS, type Damage, type Findings, findDamage } from './damage.ts';
import { DatabaseObserver } from './database-observer.ts';
import { collectFindings } from './findings.ts';
import type { PoisonKind } from './poison-kinds.ts';
import {
  countedBy,
  DONE,
  ORDINARY_TEAMS,
  POISON_WORD,
  type PoisonScene,
  startPoisonScene,
} from './poison-scene.ts';
import { WorkflowRuns } from './workflow-runs.ts';

const WARM_UP_TIMEOUT_MS = 60_000;
const POLL_INTERVAL_MS = 250;
/** The end of each reply of the chaos agent. */
const REPLY_END = /Reply \w+ ends\./;
/** What became of one bad thing, and of the others beside it. */
export interface PoisonOutcome {
  /** How much longer the bot let others wait than beside nothing bad: of both waits the 95th percentile. */
  othersDelayedP95Seconds: number;
  /** Until it ended or was passed over; null if it did neither in time. */
  endedAfterSeconds: number | null;
  /** Whether its people read what became of it. */
  told: boolean;
  /** Whether a metric counted it. */
  counted: boolean;
}

/** How long others waited (s). */
interface Waits {
  /** Because of the bot, for each message. */
  messages: readonly number[];
  /** For each step of a workflow to be completed. */
  steps: readonly number[];
}

/** Where workflows ask, too. */
const WORKFLOW_TEAM = 'T2';
const TOLD = new RegExp(DONE);
const COMPLETED = /^taskthread_turns_ended_total\{outcome="completed"/;
const MESSAGES = 12;
const PAUSE_MS = 3_000;

export interface PoisonPlayOptions {
  name: string;
  kind: PoisonKind;
  /** Whether nothing of that kind is bad. */
  isPlain: boolean;
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
  readonly #people: {
    random: () => number;
    conversation: Conversation;
    workflows: WorkflowRuns | undefined;
  }[];
  #bad: Message[] = [];
  #ended: Promise<number | null> = Promise.resolve(null);
  #countedBefore = 0;
  /** Unix time (ms). Before, nobody could be answered. */
  #restartedAt = 0;

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
        const hasWorkflows = options.kind.workflows === true && team.id === WORKFLOW_TEAM;
        return {
          random,
          conversation: new Conversation(slack, random, { team, maxChannels: 4 }),
          workflows: hasWorkflows ? new WorkflowRuns(slack, random, { team, channels: 1 }) : undefined,
        };
      });
  }

  /**
   * Starts everything, and lets each part be used once. Then each workspace misses a message, and the bot starts again. `undo`
   * stops everything that `stop` has not stopped.
   */
  static async prepare(options: PoisonPlayOptions, undo: AsyncDisposableStack): Promise<PoisonPlay> {
    const { database, logs, name } = options;
    const own = undo.use(new AsyncDisposableStack());
    const scene = await startPoisonScene({ ...options, logFile: join(logs, `${name}.log`) }, own);
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
    const observer = this.#observer;
    const isWarm = async () =>
      (await observer.turns()).length > conversations.length && (await observer.unfinished()) === 0;
    if (!(await waitUntil(isWarm, WARM_UP_TIMEOUT_MS)))
      throw new Error('The first messages were not answered.');
    for (const { workflows } of this.#people) await workflows?.prepare();
    const { slack, database, restartBot } = this.#scene;
    const hear = slack.goDeaf();
    for (const conversation of conversations) conversation.replyOne();
    if (!this.#options.isPlain) await this.#options.kind.beforeRestart?.(this.#scene);
    await slack.settled();
    hear();
    const gap =
      "with ended as (delete from receiving) update workspaces set last_receiving_at = now() - interval '10 minutes'";
    await restartBot(async () => void (await database.query(gap)));
    this.#restartedAt = Date.now();
  }

  /** Makes the thing bad, and lets people talk. Adds what they suffered to `damage`. */
  async talk(damage: Damage): Promise<Waits> {
    const { kind, isPlain, messages = MESSAGES, pauseMs = PAUSE_MS } = this.#options;
    if (!isPlain) {
      if (kind.beforeRestart === undefined) this.#countedBefore = await this.#count();
      this.#ended = this.#begin(kind);
      this.#ended.catch(() => undefined);
    }
    const talks = this.#people.map(async ({ conversation, random, workflows }) => {
      for (let said = 0; said < messages; said += 1) {
        conversation.sayOne();
        workflows?.runOne();
        await sleep(random() * 2 * pauseMs);
      }
    });
    await Promise.all(talks);
    const workflows = this.#people.flatMap((one) => one.workflows ?? []);
    for (const one of workflows) await one.settled();
    const people = {
      said: [
        ...this.#people.flatMap(({ conversation }) => conversation.said),
        ...workflows.flatMap((one) => one.questions()),
      ],
      names: this.#people.flatMap(({ conversation }) => conversation.names),
    };
    const { slack, agent, badChannels } = this.#scene;
    const except = { channels: badChannels(), word: POISON_WORD };
    const { findings } = await collectFindings(slack, agent, this.#observer, { ...people, except });
    const found = findDamage(findings);
    for (const one of DAMAGE_KINDS)
      damage[one].push(...found[one].map((sentence) => `${this.#options.name}: ${sentence}`));
    for (const { executions, completedOnce } of workflows.map((one) => one.counts()))
      if (completedOnce < executions)
        damage.lost.push(`${this.#options.name}: ${executions - completedOnce} steps of workflows`);
    return { messages: this.#waits(findings), steps: workflows.flatMap((one) => one.seconds()) };
  }

  /** Waits until the bad thing is over, or has had its time, and tells what became of it. */
  async outcome(): Promise<Omit<PoisonOutcome, 'othersDelayedP95Seconds'>> {
    const { kind } = this.#options;
    const endedAfterSeconds = await this.#ended;
    const isTold = () => (kind.told ?? TOLD).test(this.#scene.read(this.#bad));
    // What is told goes out just after the thing was given up.
    const told = await waitUntil(isTold, 5_000);
    return { endedAfterSeconds, told, counted: (await this.#count()) > this.#countedBefore };
  }

  async #count(): Promise<number> {
    const { counted = COMPLETED } = this.#options.kind;
    return this.#scene.bot.alive ? countedBy(this.#scene, counted) : 0;
  }

  /** Stops the bot and everything else. */
  async stop(damage: Damage): Promise<void> {
    const { bot } = this.#scene;
    const problem = bot.alive ? !(await bot.stop()) && 'did not stop in time' : 'ended';
    if (problem) damage.stuck.push(`${this.#options.name}: the process ${problem}`);
    await this.#undo.disposeAsync();
  }

  /** Makes the thing bad. Resolves to how long it is until that is over (s), or to null if it takes too long. */
  async #begin(kind: PoisonKind): Promise<number | null> {
    const began = performance.now();
    this.#bad = await kind.begin(this.#scene);
    while (secondsSince(began) <= this.#options.limitSeconds && !this.#undo.disposed) {
      if (await (kind.isOver ?? isFinished)(this.#scene, this.#bad)) return secondsSince(began);
      await sleep(POLL_INTERVAL_MS);
    }
    return null;
  }

  /**
   * How long the bot let each message wait (s): until it was sent, once it was its turn, and from the agent's last word
   * until that was shown.
   */
  #waits({ said, tasks }: Findings): number[] {
    const records = new Map(this.#scene.agent.tasks.map(({ id, messages }) => [id, messages]));
    return tasks.flatMap(({ id, messages }) => {
      const all = records.get(id) ?? [];
      const asked = all.filter(({ role }) => role === 'user');
      let turnAt = this.#restartedAt;
      return messages.flatMap(({ text }, at) => {
        const same = messages.slice(0, at).filter((other) => other.text === text).length;
        const saidAt = Number(said.filter((one) => one.text === text)[same]?.ts) * 1_000;
        const sentAt = asked[at]?.createdAt ?? Number.NaN;
        const reply = all.find(({ input }) => input !== null && input.userMessageId === asked[at]?.id);
        const shownAt = this.#shownAt.get(REPLY_END.exec(textOf(reply?.content ?? []))?.[0] ?? '');
        if (shownAt === undefined || shownAt < this.#restartedAt) return [];
        const waits = [sentAt - Math.max(saidAt, turnAt), shownAt - (reply?.completedAt ?? Number.NaN)];
        turnAt = shownAt;
        return [waits.reduce((sum, wait) => sum + Math.max(0, wait), 0) / 1_000];
      });
    });
  }
}

function isFinished(scene: PoisonScene, messages: readonly Message[]): boolean {
  return scene.isFinished(messages);
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
