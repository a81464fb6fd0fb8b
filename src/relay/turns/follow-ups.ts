import { randomUUID } from 'node:crypto';
import { AgentNotFoundError } from '../../agent/errors.ts';
import type { FollowUp } from '../../store/schema.ts';
import { isThreadUnreachable } from '../replies/reply-messages.ts';
import type { RelayDeps, SettledTurnContext } from '../runtime/deps.ts';
import { RenewableLease, readClocks, SYSTEM_CLOCKS } from '../runtime/lease.ts';
import { Poller } from '../runtime/poller.ts';
import { transientFailure } from '../runtime/retry.ts';
import { HandOver } from '../runtime/turn-errors.ts';

/** How long a watch is held, in ms: longer than its lease counts. */
const CLAIM_MS = 15_000;
const CLAIM_RENEW_INTERVAL_MS = 2_500;
/** How often watches that are due are looked for, at most (ms). */
const MAX_POLL_INTERVAL_MS = 5_000;
/** How long a look has to come to a border when the process stops (ms). */
const STOP_GRACE_MS = 1_500;
/** Watches that a process looks after at one time. */
const MAX_CONCURRENT = 20;
/** Of these, watches of one workspace: its service may be slow, and the others do not wait for it. */
const MAX_CONCURRENT_PER_WORKSPACE = 5;
/** The pause between two looks grows by this, up to so many times the first. */
const BACKOFF_FACTOR = 1.5;
const MAX_BACKOFF_MULTIPLE = 12;

/** What became of a look. `over`: nothing more can come; `cut_off`: by the stop, or another process is at it. */
type CheckOutcome = 'looked' | 'failed' | 'over' | 'cut_off';

/** Looks for one kind of thing that comes after a turn, and shows it. Made to be repeated: each thing is shown once. */
export type FollowUpCheck = (after: SettledTurnContext) => Promise<void>;

/**
 * Watches tasks for a time after their turns, beside the threads: a look never holds a thread, and leaves one alone
 * whose next turn runs. Any process may look; what is due when a process dies is another's.
 */
export class FollowUps {
  readonly #deps: RelayDeps;
  readonly #checks: readonly FollowUpCheck[];
  readonly #processId = randomUUID();
  readonly #running = new Map<RenewableLease, Promise<void>>();
  readonly #poller: Poller;

  constructor(deps: RelayDeps, checks: readonly FollowUpCheck[]) {
    this.#deps = deps;
    this.#checks = checks;
    this.#poller = new Poller({
      intervalMs: Math.min(MAX_POLL_INTERVAL_MS, deps.settings.results.followUpIntervalMs),
      poll: () => this.#claimDue(),
      onError: (error) => deps.log.warn({ err: error }, 'watched tasks could not be read'),
    });
  }

  start(): void {
    if (this.#deps.settings.results.followUpMs > 0) this.#poller.start();
  }

  /** Begins no more looks. Those under way come to a border, or are soon given up: others repeat them. */
  async stop(): Promise<void> {
    await this.#poller.stop();
    for (const lease of this.#running.keys()) lease.drain();
    const giveUp = setTimeout(() => {
      for (const lease of this.#running.keys()) lease.lose('The process stops.');
    }, STOP_GRACE_MS);
    await Promise.all(this.#running.values());
    clearTimeout(giveUp);
  }

  async #claimDue(): Promise<void> {
    const freeSlots = MAX_CONCURRENT - this.#running.size;
    if (freeSlots <= 0) return;
    const claimedAt = readClocks(SYSTEM_CLOCKS);
    const claimed = await this.#deps.store.followUps.claim(
      this.#processId,
      CLAIM_MS,
      freeSlots,
      MAX_CONCURRENT_PER_WORKSPACE,
    );
    const moreMayBeDue = claimed.length >= Math.min(freeSlots, MAX_CONCURRENT_PER_WORKSPACE);
    for (const followUp of claimed) {
      const lease = new RenewableLease(claimedAt, SYSTEM_CLOCKS);
      const run = this.#runClaimed(followUp, lease).finally(() => {
        this.#running.delete(lease);
        if (moreMayBeDue) this.#poller.pollNow();
      });
      this.#running.set(lease, run);
    }
  }

  /** Looks while the watch is ours, and says when the next look is due. */
  async #runClaimed(followUp: FollowUp, lease: RenewableLease): Promise<void> {
    const { store, log, settings } = this.#deps;
    const timer = setInterval(() => {
      const requestedAt = readClocks(SYSTEM_CLOCKS);
      store.followUps.renew(followUp, this.#processId, CLAIM_MS).then(
        (isStillOurs) =>
          isStillOurs
            ? lease.renew(requestedAt)
            : lease.lose('Another process looks after this task by now.'),
        (error: unknown) => log.debug({ err: error }, 'a watch could not be renewed'),
      );
    }, CLAIM_RENEW_INTERVAL_MS);
    try {
      const outcome = await this.#runChecks(followUp, lease);
      const ms =
        settings.results.followUpIntervalMs *
        Math.min(MAX_BACKOFF_MULTIPLE, BACKOFF_FACTOR ** followUp.checks);
      // What was cut off stays due: whoever claims it next looks again.
      if (outcome === 'cut_off') return;
      if (outcome === 'over') await store.followUps.cancel(followUp);
      else await store.followUps.recordCheck(followUp, this.#processId, { ms, failed: outcome === 'failed' });
    } catch (error) {
      log.warn({ err: error, turn: followUp.turn }, 'a look at a task could not be recorded');
    } finally {
      clearInterval(timer);
    }
  }

  async #runChecks(followUp: FollowUp, lease: RenewableLease): Promise<CheckOutcome> {
    const { store, log } = this.#deps;
    try {
      const workspace = this.#deps.workspace(followUp.workspace);
      const thread = await store.threads.get(followUp);
      const turn = await store.turns.get(followUp.workspace, followUp.turn);
      if (thread === undefined || thread.task_id === null || turn === undefined) return 'over';
      if (workspace === undefined || (await store.turns.open(followUp)) !== undefined) return 'looked';
      const agent = this.#deps.agent(thread.account);
      const context = { deps: this.#deps, workspace, agent, turn, taskId: thread.task_id, lease };
      for (const check of this.#checks) await check(context);
      return 'looked';
    } catch (error) {
      if (error instanceof AgentNotFoundError || isThreadUnreachable(error)) return 'over';
      const isCutOff = error instanceof HandOver || lease.signal.aborted;
      const isExpected = isCutOff || transientFailure(error) !== undefined;
      log[isExpected ? 'debug' : 'warn']({ err: error, turn: followUp.turn }, 'a look at a task ended early');
      return isCutOff ? 'cut_off' : 'failed';
    }
  }
}
