import { jobIds } from '../store/job-id.ts';
import type { ThreadKey } from '../store/keys.ts';
import type { Turn, TurnPlace } from '../store/tables.ts';
import { placeOf } from '../store/turns.ts';
import { beginTurn, nextAdmitted } from './admitting/begin.ts';
import { admitStrays } from './arriving/stray-replies.ts';
import type { RelayParts, Workspace } from './context.ts';
import type { Marks } from './controls/marks.ts';
import { HandOver } from './interruption.ts';
import type { Lease } from './lease.ts';
import { untilGone } from './lease.ts';
import { pause } from './patience.ts';
import type { ReadRate } from './showing/read-rate.ts';
import { inSession } from './showing/session.ts';
import { TurnRun } from './turn.ts';

/** A turn that was taken up so often without a step forward, and for so long (ms), is ended with a sentence. */
const mostAttempts = 5;
const attemptsMs = 600_000;
/**
 * From so many attempts on a turn begins later than the others (ms, doubling), and only then counts as attempted: a
 * process that ends before was not brought down by it, and one that brings it down does so less and less often.
 */
const suspectAttempts = 4;
const suspectPauseMs = { first: 1_000, most: 32_000 };
/** A turn that was worked on for so long (ms) is none that brings its process down. */
const thrivesMs = 60_000;

/** What running turns needs beside the relay's parts. */
export interface RunnerParts {
  parts: RelayParts;
  marks: Marks;
  /** The read rate of a service account. */
  rateOf: (account: string) => ReadRate;
  /** A workspace that this process may not know yet; undefined where the bot is not installed. */
  find: (workspace: string) => Promise<Workspace | undefined>;
  /** Queues a thread that has no job that waits. */
  again: (thread: ThreadKey) => Promise<void>;
}

/** Does a thread's work: a turn, and a job for what waits behind it. */
export class TurnRunner {
  readonly #parts: RelayParts;
  readonly #marks: Marks;
  readonly #rateOf: RunnerParts['rateOf'];
  readonly #find: RunnerParts['find'];
  readonly #again: RunnerParts['again'];
  readonly #nextId = jobIds();
  /** The turns that this process works on, by id. */
  readonly #runs = new Map<string, TurnRun>();

  constructor({ parts, marks, rateOf, find, again }: RunnerParts) {
    this.#parts = parts;
    this.#marks = marks;
    this.#rateOf = rateOf;
    this.#find = find;
    this.#again = again;
  }

  /** Somebody asked for the stop of a turn; one that this process does not work on is another's. */
  stopAsked(turn: Pick<Turn, 'id'>): void {
    this.#runs.get(turn.id)?.stopAsked();
  }

  /** Goes on with the thread's open turn, or begins one for the waiting message with the lowest ts. */
  async run(thread: ThreadKey, held: Lease): Promise<void> {
    const workspace = await this.#find(thread.workspace);
    if (workspace === undefined) {
      this.#parts.log.warn({ ...thread }, 'the bot is not installed in this workspace; the turn waits');
      return;
    }
    const { lease, leave } = untilGone(held, workspace.gone);
    try {
      const taken = await this.#takeUp(workspace, thread, lease);
      if (taken === undefined) return;
      const { run, place, isPoisoned } = taken;
      this.#runs.set(place.id, run);
      try {
        await inSession(this.#parts, workspace, thread, lease, () =>
          isPoisoned ? run.abandon() : this.#watched(place, lease, () => run.go()),
        );
      } finally {
        // After a lost lease this process may be at the turn once more.
        if (this.#runs.get(place.id) === run) this.#runs.delete(place.id);
      }
      if (await this.#hasMore(thread, place)) await this.#again(thread);
    } catch (error) {
      if (error instanceof HandOver || lease.signal.aborted) return;
      throw error;
    } finally {
      leave();
    }
  }

  async #takeUp(
    workspace: Workspace,
    thread: ThreadKey,
    lease: Lease,
  ): Promise<{ run: TurnRun; place: TurnPlace; isPoisoned: boolean } | undefined> {
    const turn = await this.#take(workspace, thread, lease);
    if (turn === undefined) return undefined;
    const { task_id: task } = await this.#parts.store.threads.expect(thread);
    // Every line about the turn says in which thread and task it is.
    const log = this.#parts.log.child({ ...thread, ...(task === null ? {} : { task }) });
    log.info({ turn: turn.id, attempts: turn.attempts }, 'turn taken up');
    this.#marks.waiting(thread);
    this.#marks.tidy();
    const run = new TurnRun({ ...this.#parts, log }, workspace, turn, lease, this.#rateOf, this.#marks);
    return { run, place: placeOf(turn), isPoisoned: isPoisoned(turn) };
  }

  /**
   * Whether the thread has work left after this turn: many messages share a job. A turn that stays open is left to
   * upkeep, so that it is not taken up over and over.
   */
  async #hasMore(thread: ThreadKey, turn: TurnPlace): Promise<boolean> {
    const { turns, messages } = this.#parts.store;
    const open = await turns.open(thread);
    if (open !== undefined) return open.id !== turn.id;
    return (await messages.nextWaiting(thread)) !== undefined;
  }

  async #take(workspace: Workspace, thread: ThreadKey, lease: Lease): Promise<Turn | undefined> {
    const { store } = this.#parts;
    const open = await store.turns.open(thread);
    if (open !== undefined) {
      await pause(suspicionMs(open.attempts), lease);
      return store.turns.attempt(open);
    }
    await admitStrays(this.#parts, workspace, thread, lease);
    for (;;) {
      const next = await nextAdmitted(this.#parts, workspace, thread, lease);
      if (next === undefined) return undefined;
      const turn = await beginTurn(this.#parts, workspace, this.#nextId(), next);
      if (turn !== undefined) return turn;
    }
  }

  async #watched(turn: TurnPlace, lease: Lease, go: () => Promise<void>): Promise<void> {
    const timer = setTimeout(() => {
      if (lease.signal.aborted) return;
      this.#parts.store.turns
        .thrives(turn)
        .catch((error: unknown) =>
          this.#parts.log.debug({ err: error }, 'attempts could not be counted anew'),
        );
    }, thrivesMs);
    try {
      await go();
    } finally {
      clearTimeout(timer);
    }
  }
}

function suspicionMs(attempts: number): number {
  if (attempts < suspectAttempts) return 0;
  return Math.min(suspectPauseMs.most, suspectPauseMs.first * 2 ** (attempts - suspectAttempts));
}

/** A process that is started again and again must not cost the answer: many attempts count only over some time. */
function isPoisoned({ attempts, attempts_since: since }: Turn): boolean {
  return attempts > mostAttempts && Date.now() - since.getTime() > attemptsMs;
}
