import { setTimeout as sleep } from 'node:timers/promises';
import type { Bots } from './bots.ts';
import type { Ledger } from './ledger.ts';
import { between, shuffled } from './randoms.ts';
import { type OpenTurn, stepOf, type TurnStep } from './step.ts';
import type { Ears, Place } from './weather.ts';

/** The call whose arrival a kill waits for; none: a random moment. */
type Trigger = { place: Place; call: RegExp } | undefined;

/** One for each step, so that rare steps are hit too. */
const triggers: readonly Trigger[] = [
  undefined,
  { place: 'slack', call: /^chat\.postMessage$/ },
  { place: 'agent', call: /^POST \/projects$/ },
  { place: 'agent', call: /^POST \/experimental\/tasks$/ },
  { place: 'agent', call: /^(POST \/experimental\/files|PUT (part|upload))/ },
  { place: 'agent', call: /^GET .*\/messages$/ },
  { place: 'agent', call: /^POST .*\/messages$/ },
  { place: 'agent', call: /^GET .*\/messages\/\{message_id\}$/ },
  { place: 'slack', call: /^chat\.update$/ },
  { place: 'agent', call: /^GET .*\/results$/ },
];
const triggerMs = 600;
const mostOpenTurns = 30;
const breathMs = 1_000;

/** What the assault works with. */
export interface AssaultParts {
  bots: Bots;
  ears: Ears;
  random: () => number;
  /** The rows of the bot, as long as its database runs. */
  ledger(): Ledger | undefined;
  /** Has somebody say something, where no turn is unfinished. */
  provoke(): void;
  /** The service's replies that are complete. */
  repliesSettled(): ReadonlySet<string>;
}

/** Freezes and kills the bot's processes while turns are unfinished, and starts them again. */
export class Assault {
  /** How many kills hit at least one turn at each step. */
  readonly killsByStep = new Map<TurnStep, number>();
  kills = 0;
  freezes = 0;
  readonly #parts: AssaultParts;
  readonly #replicas: number;
  #deck: Trigger[] = [];

  constructor(parts: AssaultParts, replicas: number) {
    this.#parts = parts;
    this.#replicas = replicas;
  }

  /** Waits for the next moment, strikes there, and starts the process again; resolves when it takes events. */
  async strike(): Promise<void> {
    const { bots, random } = this.#parts;
    await this.#breathe();
    for (;;) {
      const index = between(random, 0, this.#replicas - 1);
      await this.#moment(this.#nextTrigger(), () => bots.at(index).freeze());
      const turns = await this.#openTurns();
      if (turns.length === 0) {
        bots.at(index).thaw();
        this.#parts.provoke();
        await sleep(100);
        continue;
      }
      if (random() < 0.08) await this.#rest(index);
      for (const step of new Set(turns.map((turn) => stepOf(turn, this.#parts.repliesSettled())))) {
        this.killsByStep.set(step, (this.killsByStep.get(step) ?? 0) + 1);
      }
      await bots.at(index).kill();
      this.kills += 1;
      await bots.restart(index);
      return;
    }
  }

  /** Where kills come faster than work gets done, each life is given a little time. */
  async #breathe(): Promise<void> {
    const deadline = performance.now() + breathMs;
    while (performance.now() < deadline && (await this.#openTurns()).length > mostOpenTurns) await sleep(100);
  }

  /** Leaves the process frozen for a while; some go on after that and are killed a little later. */
  async #rest(index: number): Promise<void> {
    const { bots, random } = this.#parts;
    this.freezes += 1;
    await sleep(between(random, 500, 2_500));
    if (random() < 0.3) return;
    bots.at(index).thaw();
    await sleep(between(random, 0, 500));
  }

  async #moment(trigger: Trigger, freeze: () => void): Promise<void> {
    const { ears, random } = this.#parts;
    const lateMs = random() < 0.5 ? 0 : between(random, 1, 40);
    if (trigger === undefined) {
      await sleep(between(random, 20, 600));
      freeze();
      return;
    }
    const heard = Promise.withResolvers<void>();
    const deaf = ears.next(trigger.place, trigger.call, () => {
      if (lateMs > 0) return void setTimeout(heard.resolve, lateMs);
      // In this very moment: the call has arrived and is not handled yet.
      freeze();
      heard.resolve();
    });
    const patience = new AbortController();
    await Promise.race([heard.promise, sleep(triggerMs, undefined, patience).catch(() => undefined)]);
    patience.abort();
    deaf();
    freeze();
  }

  #nextTrigger(): Trigger {
    if (this.#deck.length === 0) this.#deck = shuffled(this.#parts.random, triggers);
    return this.#deck.pop();
  }

  async #openTurns(): Promise<OpenTurn[]> {
    return (
      (await this.#parts
        .ledger()
        ?.openTurns()
        .catch(() => [])) ?? []
    );
  }
}
