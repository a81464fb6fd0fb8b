import { v7 as nextTurnId } from 'uuid';
import { type ThreadKey, threadKeyText } from '../../store/keys.ts';
import type { Turn } from '../../store/schema.ts';
import type { ThreadWithWork } from '../../store/threads/threads.ts';
import { turnLocationOf } from '../../store/threads/turns.ts';
import { nextAllowedMessage } from '../access/next-message.ts';
import { beginTurnOrRefuse } from '../access/turn-quotas.ts';
import type { WaitingReactions } from '../controls/waiting-reactions.ts';
import { recoverOrphanReplies } from '../inbox/orphan-replies.ts';
import type { RelayDeps, ThreadWork, WorkspaceClient } from '../runtime/deps.ts';
import { drainOnUninstall, type Lease } from '../runtime/lease.ts';
import type { ReadRate } from '../runtime/read-rate.ts';
import { HandOver } from '../runtime/turn-interruptions.ts';
import { withAgentSession } from './agent-session.ts';
import type { JobCompletion } from './dispatcher.ts';
import { countTakeover, isPoisoned, runAndMarkStable } from './poison-turn.ts';
import { abandonTurn, runTurn } from './turn.ts';
import { TurnContext } from './turn-context.ts';

/** What turns need to run. */
export interface TurnRunnerDeps {
  deps: RelayDeps;
  waitingReactions: WaitingReactions;
  /** The read rate of a service account. */
  readRateFor: (account: string) => ReadRate;
  /** Finds a workspace, even one that this process does not know yet; undefined if the app is not installed there. */
  findWorkspace: (workspace: string) => Promise<WorkspaceClient | undefined>;
  /** Queues a thread that has no waiting job. */
  requeue: (thread: ThreadKey) => Promise<void>;
}

/** Runs a thread's next turn, and queues the thread again if more messages wait. */
export class TurnRunner {
  readonly #deps: RelayDeps;
  readonly #options: Omit<TurnRunnerDeps, 'deps'>;
  /** The turns that this process runs, by id. */
  readonly #running = new Map<string, TurnContext>();

  constructor({ deps, ...options }: TurnRunnerDeps) {
    this.#deps = deps;
    this.#options = options;
  }

  /** Stops a turn if this process runs it. */
  requestStop(turn: Pick<Turn, 'id'>): void {
    this.#running.get(turn.id)?.requestStop();
  }

  /** Offers the thread's next message to its run here: in a pause, or at once if asked. False if it was not offered. */
  passOn(thread: ThreadKey, isAsked: boolean): boolean {
    const name = threadKeyText(thread);
    const context = [...this.#running.values()].find(({ turn }) => threadKeyText(turn) === name);
    return context?.passOn(isAsked) ?? false;
  }

  /** Continues the thread's open turn, or begins one for the waiting message with the lowest ts. */
  async run(thread: ThreadKey, jobLease: Lease, completion: JobCompletion): Promise<void> {
    const workspace = await this.#options.findWorkspace(thread.workspace);
    if (workspace === undefined) {
      this.#deps.log.warn({ ...thread }, 'there is no usable token for this workspace; the turn waits');
      return;
    }
    const lease = drainOnUninstall(jobLease, workspace.uninstalled);
    try {
      const context = await this.#nextTurn({ deps: this.#deps, workspace, lease }, thread);
      if (context === undefined) return;
      context.completion = completion;
      const turn = turnLocationOf(context.turn);
      this.#running.set(turn.id, context);
      try {
        await withAgentSession(context, thread, () =>
          isPoisoned(context.turn)
            ? abandonTurn(context)
            : runAndMarkStable(context, turn, () => runTurn(context)),
        );
      } finally {
        // After a lost lease, this process may already run the turn again.
        if (this.#running.get(turn.id) === context) {
          this.#running.delete(turn.id);
          this.#deps.replyMemory.release(turn);
        }
      }
      // Many messages share a job. A turn that stays open is left to `Maintenance`, so that it does not run over and over.
      if (!completion.isCommitted && (await this.#deps.store.threads.hasWorkAfter(turn)))
        await this.#options.requeue(thread);
    } catch (error) {
      if (error instanceof HandOver || lease.signal.aborted) return;
      throw error;
    }
  }

  async #nextTurn(work: ThreadWork, thread: ThreadKey): Promise<TurnContext | undefined> {
    const state = await this.#deps.store.threads.getWithWork(thread);
    if (state === undefined) return undefined;
    const open = state.has_open_turn ? await this.#deps.store.turns.open(thread) : undefined;
    const begun = open === undefined ? await this.#begin(work, state) : undefined;
    const turn = open === undefined ? begun?.turn : await countTakeover(work, open);
    if (turn === undefined) return undefined;
    const { task_id } = state;
    // Every log line about the turn names its thread and task.
    const log = this.#deps.log.child({ ...thread, ...(task_id === null ? {} : { task: task_id }) });
    log.info({ turn: turn.id, attempts: turn.attempts }, 'turn started');
    const { waitingReactions, readRateFor } = this.#options;
    if (begun === undefined || begun.message.waiting_count > 1) waitingReactions.addToWaiting(thread);
    if (begun === undefined || begun.message.has_waiting_reaction) waitingReactions.cleanUp();
    const logged = { ...work, deps: { ...this.#deps, log } };
    return new TurnContext(logged, turn, readRateFor, waitingReactions, begun && { ...begun, thread: state });
  }

  async #begin(work: ThreadWork, thread: ThreadWithWork) {
    if (thread.has_orphan_replies) await recoverOrphanReplies(work, thread);
    for (;;) {
      const message = await nextAllowedMessage(work, thread);
      if (message === undefined) return undefined;
      const begunAt = performance.now();
      const turn = await beginTurnOrRefuse(work, nextTurnId(), message);
      if (turn !== undefined) return { turn, message, begunAt };
    }
  }
}
