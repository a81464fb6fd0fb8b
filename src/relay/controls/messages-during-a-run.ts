import { v7 as nextTurnId } from 'uuid';
import { isBusy } from '../../agent/errors.ts';
import { fileNoteLines } from '../../render/messages/file-lines.ts';
import type { FileNote, Turn, TurnLocation } from '../../store/schema.ts';
import type { WholeMessage } from '../../store/threads/messages.ts';
import { DEFAULT_SETTINGS } from '../../store/workspaces/settings-store.ts';
import { beginTurnOrRefuse } from '../access/quotas.ts';
import { notifyWriter } from '../access/refusals.ts';
import type { AnswerProgress } from '../replies/silence-and-questions.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { TAKEN_EMOJI } from '../runtime/incoming-message.ts';
import { inBackground } from '../runtime/poller.ts';
import { withRetry } from '../runtime/retry-and-giving-up.ts';
import { Interruption, isInterruption, TurnEnded } from '../runtime/turn-exceptions.ts';
import { TurnRow } from '../runtime/turn-row.ts';
import { isEmptyMessage } from '../sending/empty-message.ts';
import { nextAllowedMessage } from '../sending/next-message.ts';
import { Sender, type SendingTurn } from '../sending/sender.ts';
import { closeIfUnchanged, closeMessage, requeueMessage } from '../sending/unsent-message.ts';

/** When a run may get a message: only in one of its pauses, or at once because the writer pressed **Send now**. */
export type PassOnTime = 'in_pause' | 'at_once';

/** What the running turn tells, and learns, about messages that are passed on to its run. */
export interface PassOnListener {
  /** What the agent has written by now. */
  progress(): AnswerProgress;
  /** Called when a message is at the service. `before`: what the agent had written just before it was sent. */
  onPassedOn(writer: string, notes: readonly FileNote[], before: AnswerProgress): void;
  /** Called when a message waits again, because the service takes none while the agent works. */
  onRequeued(): void;
}

type PassingOnOptions = PassOnListener & { stopSignal: AbortSignal };

/** Passes waiting messages on to a run. Each message has a turn of its own, which goes on once the run's turn has ended. */
export class PassingOn {
  readonly #work: ThreadWork;
  readonly #turn: TurnLocation;
  readonly #options: PassingOnOptions;
  /** The names of the pauses in which no further message is passed on. */
  readonly #usedUpPauses = new Set<string>();
  #passing: Promise<void> | undefined;
  /** A message to pass on is being looked for: a message that comes now is found by this look or the next one. */
  #isLooking = false;
  /** Aborted once the run was stopped or has ended: an unsent message then waits again. */
  readonly #end = new AbortController();
  hasPassedOn = false;

  constructor(work: ThreadWork, turn: TurnLocation, options: PassingOnOptions) {
    this.#work = work;
    this.#turn = turn;
    this.#options = options;
    if (options.stopSignal.aborted) this.#cancel();
    options.stopSignal.addEventListener('abort', this.#cancel);
  }

  /** Looks for a message to pass on, in the pause of this name or because people ask. Returns whether it looks then. */
  look(pause?: string): boolean {
    if (this.#end.signal.aborted || (pause !== undefined && this.#usedUpPauses.has(pause))) return false;
    if (this.#passing !== undefined) return this.#isLooking;
    this.#passing = this.#passOnOne(pause).finally(() => {
      this.#passing = undefined;
    });
    return true;
  }

  /** Passes a message on, and no other in this pause. If that fails, logs it: the message's turn comes next. */
  async #passOnOne(pause: string | undefined): Promise<void> {
    const { lease, deps } = this.#work;
    try {
      if ((await this.#passOnNext()) === 'used_up') this.#useUp(pause);
    } catch (error) {
      // The process that has the thread next goes on with the message.
      if (isInterruption(error, 'hand_over') || lease.signal.aborted) return;
      this.#useUp(pause);
      const failure = 'passing a message on to the silent run failed; it gets its own turn next';
      deps.log.warn({ err: error, turn: this.#turn.id }, failure);
      // The notes on urgent messages then say that these wait again, and people may ask once more.
      await this.#endUrgency().catch(() => undefined);
    }
  }

  /** Passes nothing more on, and waits for the step under way: two turns must never send the same message. */
  async stop(): Promise<void> {
    this.#cancel();
    await this.#passing;
  }

  readonly #cancel = (): void => this.#end.abort(new Interruption('not_accepting'));

  /** Passes the next message on. `used_up`: the pause takes no other. `open`: none was found, or it ended unsent. */
  async #passOnNext(): Promise<'used_up' | 'open'> {
    this.#isLooking = true;
    const turn = await this.#resumeOrBeginTurn().finally(() => {
      this.#isLooking = false;
    });
    if (turn === undefined) return 'open';
    const sending = this.#sendingTurn(turn);
    // This is read before the call, because the run may go on before the service answers.
    const before = this.#options.progress();
    try {
      // A channel's settings only shape a new task, and the run has its task.
      await new Sender(sending, { channelSettings: DEFAULT_SETTINGS }).send();
    } catch (error) {
      return this.#endUnsent(turn, sending.row, error);
    }
    const { log } = this.#work.deps;
    log.info({ turn: this.#turn.id, passedOn: turn.id }, 'message passed on to the silent run');
    this.hasPassedOn = true;
    this.#markTaken(sending.row.turn);
    const writer = await this.#work.workspace.people.personName(turn.asked_by);
    this.#options.onPassedOn(writer, sending.row.turn.file_notes ?? [], before);
    return 'used_up';
  }

  /**
   * Ends the turn of a message that could not be sent. Returns how the pause stands: `used_up` if the run takes no
   * message now, so that this one waits again; else `open` for another. Throws the error if the turn stays open.
   */
  async #endUnsent(turn: Turn, row: TurnRow, error: unknown): Promise<'used_up' | 'open'> {
    const { deps, lease } = this.#work;
    // Without the lease the turn may belong to the process that has the thread now.
    if (lease.remainingMs() <= 0) throw error;
    // A message that may be at the service must not wait again.
    if (isInterruption(error, 'not_accepting') && !row.needsSearch) {
      await this.#requeueAndShow(turn);
      return 'used_up';
    }
    if (!(error instanceof TurnEnded)) throw error;
    const { unsendableMessage } = error.more;
    if (unsendableMessage !== undefined) {
      await this.#refuse(row, unsendableMessage, error);
      return 'open';
    }
    // The message's turn stays open, and when it comes next, shows the sentence in its thread.
    if (error.sentence !== null) throw error;
    await closeMessage(deps, turn);
    await row.write((rest) => deps.store.turns.finish(turn, error.outcome, rest));
    return 'open';
  }

  /** Ends a turn that can send nothing, and tells the writer. A message that was edited since waits again. */
  async #refuse(row: TurnRow, messageAsRead: WholeMessage, { outcome, sentence }: TurnEnded): Promise<void> {
    const { deps } = this.#work;
    const { turn } = row;
    const fate = await closeIfUnchanged(deps, turn, messageAsRead);
    if (fate === 'changed') {
      await requeueMessage(deps, turn);
      return;
    }
    const lines = fileNoteLines(turn.file_notes ?? [], deps.settings);
    // Whoever has withdrawn the message expects no answer.
    if (fate !== 'withdrawn') notifyWriter(deps, messageAsRead, [sentence ?? '', ...lines].join('\n'));
    await row.write((rest) => deps.store.turns.finish(turn, fate === 'withdrawn' ? fate : outcome, rest));
  }

  /** Lets an unsent message wait again. If it was not deleted, the run's reply says so, and urgent messages wait, too. */
  async #requeueAndShow(turn: Turn): Promise<void> {
    const isWaiting = await requeueMessage(this.#work.deps, turn);
    // Once the run ends, its reply says nothing more.
    if (!isWaiting || this.#end.signal.aborted) return;
    this.#options.onRequeued();
    await this.#endUrgency();
  }

  /** Marks each message that the run got, if people wrote it: the run's reply goes on above it. */
  #markTaken(turn: Turn): void {
    const { deps, workspace } = this.#work;
    const { channel } = turn;
    const mark = async () => {
      for (const { said_ts: ts } of await deps.store.messages.ofTurn(turn))
        if (ts !== null) await workspace.posting.addReaction({ channel, ts, name: TAKEN_EMOJI });
    };
    inBackground(mark(), deps.log, 'could not mark a message that a run got');
  }

  /** Passes on nothing more in this pause. Without a pause people ask, which they may do any number of times. */
  #useUp(pause: string | undefined): void {
    if (pause !== undefined) this.#usedUpPauses.add(pause);
  }

  /** Lets messages that were to be sent now wait like others. */
  async #endUrgency(): Promise<void> {
    // After a stop or the run's end, the thread's next turns take urgent messages first.
    if (this.#end.signal.aborted) return;
    await this.#work.deps.store.messages.endUrgency(this.#turn);
  }

  /** The turn of a message to pass on: one that an earlier attempt began, or a new one. Undefined if none may go now. */
  async #resumeOrBeginTurn(): Promise<Turn | undefined> {
    const { store } = this.#work.deps;
    const begunTurn = await store.turns.unfinishedPassedOn(this.#turn);
    if (begunTurn !== undefined) return begunTurn;
    const run = await store.turns.get(this.#turn.workspace, this.#turn.id);
    if (run === undefined || run.stop_requested_at !== null) return undefined;
    const message = await nextAllowedMessage(this.#work, this.#turn, { failFast: true });
    if (message === undefined) return undefined;
    // An empty message gets help in a turn of its own.
    if (isEmptyMessage(message.content, this.#work.workspace.bot.userId)) return undefined;
    return beginTurnOrRefuse(this.#work, nextTurnId(), message, this.#turn.id);
  }

  /** A turn as its sender needs it. It has no `state`, because the run's reply does not show the message's uploads. */
  #sendingTurn(turn: Turn): SendingTurn {
    const { deps, workspace, lease } = this.#work;
    const { signal: stopSignal } = this.#end;
    const retrying = { about: { turn: turn.id }, wake: stopSignal };
    // While the service takes no message, the step ends instead of trying again: the message waits.
    const retry: SendingTurn['withRetry'] = (step) =>
      withRetry(this.#work, () => step().catch(rethrowAsNotAccepting), retrying);
    return { deps, workspace, lease, row: new TurnRow(this.#work, turn), stopSignal, withRetry: retry };
  }
}

/** Throws `not_accepting` if the service is busy or the message waits again; else the error itself. */
function rethrowAsNotAccepting(error: unknown): never {
  const isNotAccepting = isBusy(error) || isInterruption(error, 'waits_again');
  throw isNotAccepting ? new Interruption('not_accepting', { cause: error }) : error;
}
