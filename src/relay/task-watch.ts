import { randomUUID } from 'node:crypto';
import { AgentNotFoundError } from '../agent/errors.ts';
import type { Watch } from '../store/tables.ts';
import type { AfterTurn, RelayParts } from './context.ts';
import { HandOver } from './interruption.ts';
import { HeldLease, instant, systemClocks } from './lease.ts';
import { passing } from './patience.ts';
import { Rounds } from './rounds.ts';
import { hasNoPlace } from './showing/reply-messages.ts';

/** How long a watch is held, in ms: longer than its lease counts. */
const claimMs = 15_000;
const renewEveryMs = 2_500;
/** How often watches that are due are looked for, at most (ms). */
const longestPollMs = 5_000;
/** How long a look has to come to a border when the process stops (ms). */
const borderMs = 1_500;
/** Watches that a process looks after at one time. */
const mostAtOnce = 20;
/** Of these, watches of one workspace: its service may be slow, and the others do not wait for it. */
const mostOfOne = 5;
/** The pause between two looks grows by this, up to so many times the first. */
const growth = 1.5;
const longestPauses = 12;

/** What became of a look. `over`: nothing more can come; `cut_off`: by the stop, or another process is at it. */
type Outcome = 'looked' | 'failed' | 'over' | 'cut_off';

/** Looks for one kind of thing that comes after a turn, and shows it. Made to be repeated: each thing is shown once. */
export type Look = (after: AfterTurn) => Promise<void>;

/**
 * Watches tasks for a time after their turns, beside the threads: a look never holds a thread, and leaves one alone
 * whose next turn runs. Any process may look; what is due when a process dies is another's.
 */
export class TaskWatch {
  readonly #parts: RelayParts;
  readonly #looks: readonly Look[];
  readonly #holder = randomUUID();
  readonly #held = new Map<HeldLease, Promise<void>>();
  readonly #rounds: Rounds;

  constructor(parts: RelayParts, looks: readonly Look[]) {
    this.#parts = parts;
    this.#looks = looks;
    this.#rounds = new Rounds({
      everyMs: Math.min(longestPollMs, parts.settings.results.watchEveryMs),
      round: () => this.#poll(),
      onError: (error) => parts.log.warn({ err: error }, 'watched tasks could not be read'),
    });
  }

  start(): void {
    if (this.#parts.settings.results.watchMs > 0) this.#rounds.start();
  }

  /** Begins no more looks. Those under way come to a border, or are soon given up: others repeat them. */
  async stop(): Promise<void> {
    await this.#rounds.stop();
    for (const lease of this.#held.keys()) lease.drain();
    const giveUp = setTimeout(() => {
      for (const lease of this.#held.keys()) lease.lose('The process stops.');
    }, borderMs);
    await Promise.all(this.#held.values());
    clearTimeout(giveUp);
  }

  async #poll(): Promise<void> {
    const room = mostAtOnce - this.#held.size;
    if (room <= 0) return;
    const renewed = instant(systemClocks);
    const claimed = await this.#parts.store.watches.claim(this.#holder, claimMs, room, mostOfOne);
    const moreMayBeDue = claimed.length >= Math.min(room, mostOfOne);
    for (const watch of claimed) {
      const lease = new HeldLease(renewed, systemClocks);
      const looking = this.#hold(watch, lease).finally(() => {
        this.#held.delete(lease);
        if (moreMayBeDue) this.#rounds.look();
      });
      this.#held.set(lease, looking);
    }
  }

  /** Looks while the watch is ours, and says when the next look is due. */
  async #hold(watch: Watch, lease: HeldLease): Promise<void> {
    const { store, log, settings } = this.#parts;
    const timer = setInterval(() => {
      const asked = instant(systemClocks);
      store.watches.renew(watch, this.#holder, claimMs).then(
        (ours) => (ours ? lease.renew(asked) : lease.lose('Another process looks after this task by now.')),
        (error: unknown) => log.debug({ err: error }, 'a watch could not be renewed'),
      );
    }, renewEveryMs);
    try {
      const outcome = await this.#look(watch, lease);
      const ms = settings.results.watchEveryMs * Math.min(longestPauses, growth ** watch.looks);
      // What was cut off stays due: whoever claims it next looks again.
      if (outcome === 'cut_off') return;
      if (outcome === 'over') await store.watches.end(watch);
      else await store.watches.looked(watch, this.#holder, { ms, failed: outcome === 'failed' });
    } catch (error) {
      log.warn({ err: error, turn: watch.turn }, 'a look at a task could not be recorded');
    } finally {
      clearInterval(timer);
    }
  }

  async #look(watch: Watch, lease: HeldLease): Promise<Outcome> {
    const { store, log } = this.#parts;
    try {
      const workspace = this.#parts.workspace(watch.workspace);
      const thread = await store.threads.get(watch);
      const turn = await store.turns.get(watch.workspace, watch.turn);
      if (thread === undefined || thread.task_id === null || turn === undefined) return 'over';
      if (workspace === undefined || (await store.turns.open(watch)) !== undefined) return 'looked';
      const agent = this.#parts.agent(thread.account);
      const after = { parts: this.#parts, workspace, agent, turn, taskId: thread.task_id, lease };
      for (const look of this.#looks) await look(after);
      return 'looked';
    } catch (error) {
      if (error instanceof AgentNotFoundError || hasNoPlace(error)) return 'over';
      const isCutOff = error instanceof HandOver || lease.signal.aborted;
      const isExpected = isCutOff || passing(error) !== undefined;
      log[isExpected ? 'debug' : 'warn']({ err: error, turn: watch.turn }, 'a look at a task ended early');
      return isCutOff ? 'cut_off' : 'failed';
    }
  }
}
