import type { ThreadKey } from '../../store/keys.ts';
import { uuidV7Generator } from '../../store/queue/uuid-v7.ts';
import type { Turn, TurnLocation } from '../../store/schema.ts';
import { turnLocationOf } from '../../store/threads/turns.ts';
import { nextAllowedMessage } from '../access/next-message.ts';
import { beginTurnOrRefuse } from '../access/turn-quotas.ts';
import type { WaitingReactions } from '../controls/waiting-reactions.ts';
import { recoverOrphanReplies } from '../inbox/orphan-replies.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import type { Lease } from '../runtime/lease.ts';
import { drainOnUninstall } from '../runtime/lease.ts';
import type { ReadRate } from '../runtime/read-rate.ts';
import { sleepWithLease } from '../runtime/retry.ts';
import { HandOver } from '../runtime/turn-errors.ts';
import { withAgentSession } from './agent-session.ts';
import { TurnRun } from './turn.ts';

/** A turn that was taken up so often without a step forward, and for so long (ms), is ended with a sentence. */
const MAX_ATTEMPTS = 5;
const POISONED_AFTER_MS = 600_000;
/**
 * From so many attempts on a turn begins later than the others (ms, doubling), and only then counts as attempted: a
 * process that ends before was not brought down by it, and one that brings it down does so less and less often.
 */
const SUSPECT_ATTEMPTS = 4;
const SUSPECT_DELAY_MS = { first: 1_000, most: 32_000 };
/** A turn that was worked on for so long (ms) is none that brings its process down. */
const STABLE_AFTER_MS = 60_000;

/** What running turns needs beside the relay's parts. */
export interface TurnRunnerDeps {
  deps: RelayDeps;
  waitingReactions: WaitingReactions;
  /** The read rate of a service account. */
  readRateFor: (account: string) => ReadRate;
  /** A workspace that this process may not know yet; undefined where the bot is not installed. */
  findWorkspace: (workspace: string) => Promise<WorkspaceClient | undefined>;
  /** Queues a thread that has no job that waits. */
  requeue: (thread: ThreadKey) => Promise<void>;
}

/** Does a thread's work: a turn, and a job for what waits behind it. */
export class TurnRunner {
  readonly #deps: RelayDeps;
  readonly #waitingReactions: WaitingReactions;
  readonly #readRateFor: TurnRunnerDeps['readRateFor'];
  readonly #findWorkspace: TurnRunnerDeps['findWorkspace'];
  readonly #requeue: TurnRunnerDeps['requeue'];
  readonly #nextTurnId = uuidV7Generator();
  /** The turns that this process works on, by id. */
  readonly #runs = new Map<string, TurnRun>();

  constructor({ deps, waitingReactions, readRateFor, findWorkspace, requeue }: TurnRunnerDeps) {
    this.#deps = deps;
    this.#waitingReactions = waitingReactions;
    this.#readRateFor = readRateFor;
    this.#findWorkspace = findWorkspace;
    this.#requeue = requeue;
  }

  /** Somebody asked for the stop of a turn; one that this process does not work on is another's. */
  requestStop(turn: Pick<Turn, 'id'>): void {
    this.#runs.get(turn.id)?.requestStop();
  }

  /** Goes on with the thread's open turn, or begins one for the waiting message with the lowest ts. */
  async run(thread: ThreadKey, jobLease: Lease): Promise<void> {
    const workspace = await this.#findWorkspace(thread.workspace);
    if (workspace === undefined) {
      this.#deps.log.warn({ ...thread }, 'the bot is not installed in this workspace; the turn waits');
      return;
    }
    const { lease, dispose } = drainOnUninstall(jobLease, workspace.uninstalled);
    try {
      const prepared = await this.#prepareRun(workspace, thread, lease);
      if (prepared === undefined) return;
      const { run, location, isPoisoned } = prepared;
      this.#runs.set(location.id, run);
      try {
        await withAgentSession(this.#deps, workspace, thread, lease, () =>
          isPoisoned ? run.abandon() : this.#runAndMarkStable(location, lease, () => run.run()),
        );
      } finally {
        // After a lost lease this process may be at the turn once more.
        if (this.#runs.get(location.id) === run) this.#runs.delete(location.id);
      }
      if (await this.#hasMoreWork(thread, location)) await this.#requeue(thread);
    } catch (error) {
      if (error instanceof HandOver || lease.signal.aborted) return;
      throw error;
    } finally {
      dispose();
    }
  }

  async #prepareRun(
    workspace: WorkspaceClient,
    thread: ThreadKey,
    lease: Lease,
  ): Promise<{ run: TurnRun; location: TurnLocation; isPoisoned: boolean } | undefined> {
    const turn = await this.#resumeOrBeginTurn(workspace, thread, lease);
    if (turn === undefined) return undefined;
    const { task_id: task } = await this.#deps.store.threads.getOrThrow(thread);
    // Every line about the turn says in which thread and task it is.
    const log = this.#deps.log.child({ ...thread, ...(task === null ? {} : { task }) });
    log.info({ turn: turn.id, attempts: turn.attempts }, 'turn taken up');
    this.#waitingReactions.addToWaiting(thread);
    this.#waitingReactions.cleanUp();
    const run = new TurnRun(
      { ...this.#deps, log },
      workspace,
      turn,
      lease,
      this.#readRateFor,
      this.#waitingReactions,
    );
    return { run, location: turnLocationOf(turn), isPoisoned: isPoisoned(turn) };
  }

  /**
   * Whether the thread has work left after this turn: many messages share a job. A turn that stays open is left to
   * upkeep, so that it is not taken up over and over.
   */
  async #hasMoreWork(thread: ThreadKey, turn: TurnLocation): Promise<boolean> {
    const { turns, messages } = this.#deps.store;
    const open = await turns.open(thread);
    if (open !== undefined) return open.id !== turn.id;
    return (await messages.nextWaiting(thread)) !== undefined;
  }

  async #resumeOrBeginTurn(
    workspace: WorkspaceClient,
    thread: ThreadKey,
    lease: Lease,
  ): Promise<Turn | undefined> {
    const { store } = this.#deps;
    const open = await store.turns.open(thread);
    if (open !== undefined) {
      await sleepWithLease(suspectDelayMs(open.attempts), lease);
      return store.turns.countAttempt(open);
    }
    await recoverOrphanReplies(this.#deps, workspace, thread, lease);
    for (;;) {
      const next = await nextAllowedMessage(this.#deps, workspace, thread, lease);
      if (next === undefined) return undefined;
      const turn = await beginTurnOrRefuse(this.#deps, workspace, this.#nextTurnId(), next);
      if (turn !== undefined) return turn;
    }
  }

  async #runAndMarkStable(turn: TurnLocation, lease: Lease, run: () => Promise<void>): Promise<void> {
    const timer = setTimeout(() => {
      if (lease.signal.aborted) return;
      this.#deps.store.turns
        .resetAttempts(turn)
        .catch((error: unknown) =>
          this.#deps.log.debug({ err: error }, 'attempts could not be counted anew'),
        );
    }, STABLE_AFTER_MS);
    try {
      await run();
    } finally {
      clearTimeout(timer);
    }
  }
}

function suspectDelayMs(attempts: number): number {
  if (attempts < SUSPECT_ATTEMPTS) return 0;
  return Math.min(SUSPECT_DELAY_MS.most, SUSPECT_DELAY_MS.first * 2 ** (attempts - SUSPECT_ATTEMPTS));
}

/** A process that is started again and again must not cost the answer: many attempts count only over some time. */
function isPoisoned({ attempts, attempts_since: since }: Turn): boolean {
  return attempts > MAX_ATTEMPTS && Date.now() - since.getTime() > POISONED_AFTER_MS;
}
