import { randomUUID } from 'node:crypto';
import { AgentNotFoundError } from '../../agent/errors.ts';
import type { FollowUp } from '../../store/schema.ts';
import type { RelayDeps, SettledTurnContext } from '../runtime/deps.ts';
import { RenewableLease, readClocks, SYSTEM_CLOCKS } from '../runtime/lease.ts';
import { Poller } from '../runtime/poller.ts';
import type { ReadRate } from '../runtime/read-rate.ts';
import type { TurnMemory } from '../runtime/reply-memory.ts';
import { transientFailure } from '../runtime/retry.ts';
import { HandOver, isThreadUnreachable } from '../runtime/turn-interruptions.ts';

/** How long running checks may take to hand over when the process stops (ms). */
const STOP_GRACE_MS = 1_500;
/** Most follow-ups that a process checks at a time. */
const MAX_CONCURRENT = 20;
/** Most of these in one workspace: others do not wait for its service, which may be slow. */
const MAX_CONCURRENT_PER_WORKSPACE = 2;
/** A check that takes longer (ms) has failed: it may hold a place only for so long. */
const CHECK_TIMEOUT_MS = 60_000;
/** How long a claim on a follow-up lasts (ms): longer than its lease counts. */
const CLAIM_MS = 75_000;
/**
 * The pause between two checks grows by this factor, up to this multiple of the first pause: with the default settings,
 * a task is checked twelve times in an hour.
 */
const BACKOFF_FACTOR = 1.6;
const MAX_BACKOFF_MULTIPLE = 120;

/** The pause before the check after `checks` others (ms); `firstMs` is the one before the first. */
export function followUpPauseMs(checks: number, firstMs: number): number {
  return firstMs * Math.min(MAX_BACKOFF_MULTIPLE, BACKOFF_FACTOR ** checks);
}

/** `finished`: nothing more can come; `interrupted`: the process stops, or the check took too long. */
type CheckOutcome = 'checked' | 'failed' | 'finished' | 'interrupted';

/** Posts what a task made after its turn. It is repeated, and posts each thing once. */
export type FollowUpCheck = (context: SettledTurnContext) => Promise<void>;

/** Checks tasks for a time after their turns, in any process, without holding their threads. */
export class FollowUps {
  readonly #deps: RelayDeps;
  readonly #checks: readonly FollowUpCheck[];
  readonly #readRateFor: (account: string) => ReadRate;
  readonly #processId = randomUUID();
  readonly #running = new Map<RenewableLease, Promise<void>>();
  readonly #poller: Poller;

  /** `readRateFor`: the read rate of a service account, which follow-ups share with live replies. */
  constructor(deps: RelayDeps, checks: readonly FollowUpCheck[], readRateFor: (account: string) => ReadRate) {
    this.#deps = deps;
    this.#checks = checks;
    this.#readRateFor = readRateFor;
    this.#poller = new Poller({
      poll: () => this.#claimDue(),
      onError: (error) => deps.log.warn({ err: error }, 'could not read the due follow-ups'),
    });
  }

  /** Begins the checks that are due. */
  checkDue(): void {
    if (this.#deps.settings.results.followUpMs > 0) this.#poller.pollNow();
  }

  /** Starts no more checks. Those under way hand over, or are soon aborted; another process repeats them. */
  async stop(): Promise<void> {
    await this.#poller.stop();
    for (const lease of this.#running.keys()) lease.drain();
    const giveUp = setTimeout(() => {
      for (const lease of this.#running.keys()) lease.lose('the process is stopping');
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
      const lease = new RenewableLease(claimedAt, SYSTEM_CLOCKS, CHECK_TIMEOUT_MS);
      const run = this.#runClaimed(followUp, lease).finally(() => {
        this.#running.delete(lease);
        if (moreMayBeDue) this.#poller.pollNow();
      });
      this.#running.set(lease, run);
    }
  }

  /** Runs the checks while the claim lasts, and schedules the next ones. */
  async #runClaimed(followUp: FollowUp, lease: RenewableLease): Promise<void> {
    const { store, log, settings } = this.#deps;
    const timeout = AbortSignal.timeout(CHECK_TIMEOUT_MS);
    timeout.addEventListener('abort', () => lease.lose('the check takes too long'));
    try {
      const outcome = await this.#runChecks(followUp, lease);
      if (outcome === 'finished') return await store.followUps.cancel(followUp);
      // An interrupted follow-up is due at once, for another process.
      const isHandedOver = outcome === 'interrupted' && !timeout.aborted;
      const pauseMs = followUpPauseMs(followUp.checks + 1, settings.results.followUpIntervalMs);
      const next = isHandedOver ? { checks: 0, ms: 0 } : { checks: 1, ms: pauseMs };
      const failed = outcome !== 'checked';
      await store.followUps.recordCheck(followUp, this.#processId, { ...next, failed });
    } catch (error) {
      log.warn({ err: error, turn: followUp.turn_id }, 'could not record a follow-up');
    }
  }

  async #runChecks(followUp: FollowUp, lease: RenewableLease): Promise<CheckOutcome> {
    const { store, log } = this.#deps;
    let memory: TurnMemory | undefined;
    try {
      const workspace = this.#deps.workspace(followUp.workspace);
      const turn = await store.followUps.checkedTurn(followUp);
      if (turn === undefined || turn.thread_task_id === null) return 'finished';
      if (workspace === undefined || turn.is_busy) return 'checked';
      const { account_id, thread_task_id: taskId } = turn;
      // The thread's next turn may run meanwhile.
      const holder = { workspace: turn.workspace, id: `follow-up of ${turn.id}` };
      memory = this.#deps.replyMemory.of(holder, account_id);
      const context = {
        deps: this.#deps,
        workspace,
        agent: this.#deps.agent(account_id),
        turn,
        taskId,
        lease,
        memory,
      };
      for (const check of this.#checks) {
        await this.#readRateFor(account_id).acquire(lease.signal);
        await check(context);
      }
      return 'checked';
    } catch (error) {
      if (error instanceof AgentNotFoundError || isThreadUnreachable(error)) return 'finished';
      const isInterrupted = error instanceof HandOver || lease.signal.aborted;
      const isExpected = isInterrupted || transientFailure(error) !== undefined;
      log[isExpected ? 'debug' : 'warn']({ err: error, turn: followUp.turn_id }, 'a follow-up check failed');
      return isInterrupted ? 'interrupted' : 'failed';
    } finally {
      memory?.release();
    }
  }
}
