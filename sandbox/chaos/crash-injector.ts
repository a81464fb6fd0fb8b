import { setTimeout as sleep } from 'node:timers/promises';
import { secondsSince, waitUntil } from '../wait-until.ts';
import type { BotDatabase, OpenTurn } from './bot-database.ts';
import type { BotFleet } from './bot-fleet.ts';
import type { Extra } from './chaos-options.ts';
import type { CallNotifier } from './fault-profile.ts';
import { type KillStep, killStepOf } from './kill-step.ts';
import { EXTRA_KILL_TRIGGERS, KILL_TRIGGERS, type KillTrigger } from './kill-triggers.ts';
import { between, shuffled } from './random-streams.ts';

/** A bot that has just been started again takes a second or two before it makes calls for its turns. */
const TRIGGER_TIMEOUT_MS = 4_000;
const MAX_RANDOM_DELAY_MS = 2_500;
const MAX_OPEN_TURNS = 30;
const PROGRESS_PAUSE_MS = 1_000;
const TAKEOVER_TIMEOUT_MS = 60_000;

export interface CrashInjectorDeps {
  bots: BotFleet;
  callNotifier: CallNotifier;
  random: () => number;
  /** The bot's rows, while its database runs. */
  botDatabase(): BotDatabase | undefined;
  /** Sends a message, so that there is a turn to hit. */
  sayOne(): void;
  /** Ids of the service's completed replies. */
  completedReplies(): ReadonlySet<string>;
}

/** Freezes and kills the bot's processes while turns are open, and starts them again. */
export class CrashInjector {
  /** How many kills hit at least one turn at each step. */
  readonly killsByStep = new Map<KillStep, number>();
  kills = 0;
  freezes = 0;
  /** How long after each kill of a process that held threads until others could take all of them (s). */
  readonly takeoverSeconds: number[] = [];
  /** At how many steps of what a run does besides a process was stopped. */
  readonly extraKills: Record<Extra, number> = {
    workflows: 0,
    streams: 0,
    questions: 0,
    again: 0,
    records: 0,
    sources: 0,
  };
  readonly #deps: CrashInjectorDeps;
  readonly #replicas: number;
  readonly #extras: readonly Extra[];
  #remainingTriggers: KillTrigger[] = [];

  /** `extras` run, and are hit too. */
  constructor(deps: CrashInjectorDeps, replicas: number, extras: readonly Extra[]) {
    this.#deps = deps;
    this.#replicas = replicas;
    this.#extras = extras;
  }

  /** Kills a process at the next trigger and starts it again; resolves when it accepts events. */
  async killOne(): Promise<void> {
    const { bots, random } = this.#deps;
    await this.#waitForProgress();
    for (;;) {
      const index = between(random, 0, this.#replicas - 1);
      await this.#freezeAt(this.#nextTrigger(), () => bots.at(index).freeze());
      const turns = await this.#openTurns();
      if (turns.length === 0) {
        bots.at(index).thaw();
        this.#deps.sayOne();
        await sleep(100);
        continue;
      }
      if (random() < 0.08) await this.#leaveFrozen(index);
      for (const step of new Set(turns.map((turn) => killStepOf(turn, this.#deps.completedReplies())))) {
        this.killsByStep.set(step, (this.killsByStep.get(step) ?? 0) + 1);
      }
      const database = this.#deps.botDatabase();
      const held = await database?.heldJobs(bots.at(index).pid ?? 0).catch(() => []);
      await bots.at(index).kill();
      this.kills += 1;
      await Promise.all([bots.restart(index), this.#untilTaken(held ?? [])]);
      return;
    }
  }

  /** Measures how long others wait for jobs of a process that was just killed. */
  async #untilTaken(held: readonly string[]): Promise<void> {
    if (held.length === 0) return;
    const killed = performance.now();
    const areTaken = async () => {
      const left = await this.#deps
        .botDatabase()
        ?.countHeld(held)
        .catch(() => undefined);
      return left === 0;
    };
    await waitUntil(areTaken, TAKEOVER_TIMEOUT_MS, 50);
    this.takeoverSeconds.push(secondsSince(killed));
  }

  /** Gives the bot a second to make progress where many turns are open. */
  async #waitForProgress(): Promise<void> {
    await waitUntil(async () => (await this.#openTurns()).length <= MAX_OPEN_TURNS, PROGRESS_PAUSE_MS, 100);
  }

  /** Leaves the process frozen for a while; most resume after that and are killed a little later. */
  async #leaveFrozen(index: number): Promise<void> {
    const { bots, random } = this.#deps;
    this.freezes += 1;
    await sleep(between(random, 500, 2_500));
    if (random() < 0.3) return;
    bots.at(index).thaw();
    await sleep(between(random, 0, 500));
  }

  async #freezeAt(trigger: KillTrigger, freeze: () => void): Promise<void> {
    const { callNotifier, random } = this.#deps;
    const delayMs = random() < 0.5 ? 0 : between(random, 1, 40);
    if (trigger === undefined) {
      await sleep(between(random, 20, MAX_RANDOM_DELAY_MS));
      freeze();
      return;
    }
    const called = Promise.withResolvers<void>();
    let isHit = false;
    const unsubscribe = callNotifier.onNext(trigger.target, trigger.call, () => {
      isHit = true;
      if (delayMs > 0) return void setTimeout(called.resolve, delayMs);
      // At this moment the call has arrived, and the service has not handled it.
      freeze();
      called.resolve();
    });
    const late = sleep(trigger.timeoutMs ?? TRIGGER_TIMEOUT_MS, undefined, { ref: false });
    await Promise.race([called.promise, late]);
    unsubscribe();
    for (const extra of this.#extras)
      if (isHit && EXTRA_KILL_TRIGGERS[extra].includes(trigger)) this.extraKills[extra] += 1;
    freeze();
  }

  #nextTrigger(): KillTrigger {
    if (this.#remainingTriggers.length === 0) {
      const extra = this.#extras.flatMap((one) => EXTRA_KILL_TRIGGERS[one]);
      this.#remainingTriggers = shuffled(this.#deps.random, [...KILL_TRIGGERS, ...extra]);
    }
    return this.#remainingTriggers.pop();
  }

  async #openTurns(): Promise<OpenTurn[]> {
    const turns = this.#deps.botDatabase()?.openTurns() ?? Promise.resolve([]);
    return turns.catch(() => []);
  }
}
