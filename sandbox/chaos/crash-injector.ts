import { setTimeout as sleep } from 'node:timers/promises';
import type { BotDatabase } from './bot-database.ts';
import type { BotFleet } from './bot-fleet.ts';
import type { CallNotifier, FaultTarget } from './fault-profile.ts';
import { type KillStep, killStepOf, type OpenTurn } from './kill-step.ts';
import { between, shuffled } from './random-streams.ts';

/** The call on whose arrival a process is killed; undefined means a random moment. */
type KillTrigger = { target: FaultTarget; call: RegExp; timeoutMs?: number } | undefined;

/** One for each step of a turn, so that kills hit rare steps too. */
const KILL_TRIGGERS: readonly KillTrigger[] = [
  undefined,
  { target: 'slack', call: /^chat\.postMessage$/ },
  { target: 'agent', call: /^POST \/projects$/ },
  { target: 'agent', call: /^POST \/experimental\/tasks$/ },
  { target: 'agent', call: /^(POST \/experimental\/files|PUT (part|upload))/ },
  { target: 'agent', call: /^GET .*\/messages$/ },
  { target: 'agent', call: /^POST .*\/messages$/ },
  { target: 'agent', call: /^GET .*\/messages\/\{message_id\}$/ },
  { target: 'slack', call: /^chat\.update$/ },
  { target: 'agent', call: /^GET .*\/results$/ },
];
/** The same for the steps of workflows: their completion in Slack, and the post of their question. */
const WORKFLOW_KILL_TRIGGERS: readonly KillTrigger[] = [
  { target: 'slack', call: /^functions\.complete/ },
  { target: 'slack', call: /^chat\.getPermalink$/ },
];
/** The same for streams. */
const STREAM_KILL_TRIGGERS: readonly KillTrigger[] = [
  { target: 'slack', call: /^chat\.startStream$/ },
  { target: 'slack', call: /^chat\.appendStream$/ },
  { target: 'slack', call: /^chat\.stopStream$/ },
];
/** A call that posts a reminder, by a name of its own. */
export const REMINDER_CALL = 'chat.postMessage of a reminder';
/** A question has to wait for an answer first, or a form has to be filled and sent (ms). */
const SLOW_TRIGGER_TIMEOUT_MS = 15_000;
/** The same for reminders of questions, and what takes them back. */
const QUESTION_KILL_TRIGGERS: readonly KillTrigger[] = [
  { target: 'slack', call: new RegExp(`^${REMINDER_CALL}$`), timeoutMs: SLOW_TRIGGER_TIMEOUT_MS },
  { target: 'slack', call: new RegExp(`^${REMINDER_CALL}$`), timeoutMs: SLOW_TRIGGER_TIMEOUT_MS },
  { target: 'slack', call: /^chat\.delete$/, timeoutMs: SLOW_TRIGGER_TIMEOUT_MS },
];
/** A call that posts the question of a form, or the link to it, by a name of its own. */
export const AGAIN_CALL = 'chat.postMessage of a question that is asked again';
/** The same for questions that are asked again: the links, and the posts with them. */
const AGAIN_KILL_TRIGGERS: readonly KillTrigger[] = [
  { target: 'slack', call: /^chat\.getPermalink$/ },
  { target: 'slack', call: new RegExp(`^${AGAIN_CALL}$`), timeoutMs: SLOW_TRIGGER_TIMEOUT_MS },
  { target: 'slack', call: new RegExp(`^${AGAIN_CALL}$`), timeoutMs: SLOW_TRIGGER_TIMEOUT_MS },
];
/** A call that shares a record, by a name of its own. */
export const RECORD_CALL = 'files.completeUploadExternal of a record';
/** The same for records: who may see one is asked just before its id is recorded, and then it is shared. */
const RECORD_KILL_TRIGGERS: readonly KillTrigger[] = [
  { target: 'slack', call: /^files\.getUploadURLExternal$/, timeoutMs: SLOW_TRIGGER_TIMEOUT_MS },
  { target: 'slack', call: /^conversations\.members$/, timeoutMs: SLOW_TRIGGER_TIMEOUT_MS },
  { target: 'slack', call: new RegExp(`^${RECORD_CALL}$`), timeoutMs: SLOW_TRIGGER_TIMEOUT_MS },
  { target: 'slack', call: new RegExp(`^${RECORD_CALL}$`), timeoutMs: SLOW_TRIGGER_TIMEOUT_MS },
  { target: 'slack', call: /^files\.info$/, timeoutMs: SLOW_TRIGGER_TIMEOUT_MS },
];
/** A bot that has just been started again takes a second or two before it makes calls for its turns. */
const TRIGGER_TIMEOUT_MS = 4_000;
const MAX_RANDOM_DELAY_MS = 2_500;
const MAX_OPEN_TURNS = 30;
const PROGRESS_PAUSE_MS = 1_000;

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
  /** Calls that post or delete a reminder at which a process was stopped. */
  reminderKills = 0;
  /** Calls that post a question that is asked again, or a link to it, at which a process was stopped. */
  linkKills = 0;
  /** Steps of records at which a process was stopped. */
  recordKills = 0;
  readonly #deps: CrashInjectorDeps;
  readonly #replicas: number;
  readonly #triggers: readonly KillTrigger[];
  #remainingTriggers: KillTrigger[] = [];

  /** `workflows`, `streams`, `questions`, `again`, `records`: these run, and are hit too. */
  constructor(
    deps: CrashInjectorDeps,
    replicas: number,
    {
      workflows = false,
      streams = false,
      questions = false,
      again = false,
      records = false,
    }: Partial<Record<'workflows' | 'streams' | 'questions' | 'again' | 'records', boolean>> = {},
  ) {
    this.#deps = deps;
    this.#replicas = replicas;
    this.#triggers = [
      ...KILL_TRIGGERS,
      ...(workflows ? WORKFLOW_KILL_TRIGGERS : []),
      ...(streams ? STREAM_KILL_TRIGGERS : []),
      ...(questions ? QUESTION_KILL_TRIGGERS : []),
      ...(again ? AGAIN_KILL_TRIGGERS : []),
      ...(records ? RECORD_KILL_TRIGGERS : []),
    ];
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
      await bots.at(index).kill();
      this.kills += 1;
      await bots.restart(index);
      return;
    }
  }

  /** Gives the bot a second to make progress where many turns are open. */
  async #waitForProgress(): Promise<void> {
    const deadline = performance.now() + PROGRESS_PAUSE_MS;
    while (performance.now() < deadline && (await this.#openTurns()).length > MAX_OPEN_TURNS)
      await sleep(100);
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
    const timeout = new AbortController();
    await Promise.race([
      called.promise,
      sleep(trigger.timeoutMs ?? TRIGGER_TIMEOUT_MS, undefined, timeout).catch(() => undefined),
    ]);
    timeout.abort();
    unsubscribe();
    if (isHit && QUESTION_KILL_TRIGGERS.includes(trigger)) this.reminderKills += 1;
    if (isHit && RECORD_KILL_TRIGGERS.includes(trigger)) this.recordKills += 1;
    if (isHit && AGAIN_KILL_TRIGGERS.includes(trigger)) this.linkKills += 1;
    freeze();
  }

  #nextTrigger(): KillTrigger {
    if (this.#remainingTriggers.length === 0)
      this.#remainingTriggers = shuffled(this.#deps.random, this.#triggers);
    return this.#remainingTriggers.pop();
  }

  async #openTurns(): Promise<OpenTurn[]> {
    return (
      (await this.#deps
        .botDatabase()
        ?.openTurns()
        .catch(() => [])) ?? []
    );
  }
}
