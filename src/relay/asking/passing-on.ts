import { AgentBusyError } from '../../agent/errors.ts';
import { jobIds } from '../../store/job-id.ts';
import type { FileNote, Turn, TurnPlace } from '../../store/tables.ts';
import { beginTurn, nextAdmitted } from '../admitting/begin.ts';
import type { RelayParts, Workspace } from '../context.ts';
import { HandOver, Held, TurnEnds } from '../interruption.ts';
import type { Lease } from '../lease.ts';
import { patiently } from '../patience.ts';
import { Asking, type AskingManner } from './asking.ts';
import { asksNothing } from './question.ts';
import { closeMessage, putBack } from './unsent.ts';

/** Hears what became of a message that was offered to the silent run, and says when that is stopped. */
export interface PassingSigns {
  /** Aborted when somebody asks for the stop of the running turn. */
  stop: AbortSignal;
  /** It is at the service; `writer` is who wrote it, `notes` says what became of its files. */
  passedOn(writer: string, notes: readonly FileNote[]): void;
  /** The service takes nothing while the agent works: the message waits again. */
  putBack(): void;
}

const nextId = jobIds();

/**
 * Sends the thread's next waiting message to a run that is silent, perhaps because it waits for a person. The message
 * gets a turn of its own beside the running one; when that is over, it goes on as any other.
 */
export class PassingOn {
  readonly #parts: RelayParts;
  readonly #workspace: Workspace;
  readonly #turn: TurnPlace;
  readonly #lease: Lease;
  readonly #signs: PassingSigns;
  /** The silence in which nothing more is tried. */
  #over: number | undefined;
  #passing: Promise<void> | undefined;
  /** Ends what is under way, because the run was stopped or has ended: what is not sent waits again. */
  #end: (() => void) | undefined;
  #isOver = false;
  /** Whether the run was given another message. */
  passed = false;

  constructor(parts: RelayParts, workspace: Workspace, turn: TurnPlace, lease: Lease, signs: PassingSigns) {
    this.#parts = parts;
    this.#workspace = workspace;
    this.#turn = turn;
    this.#lease = lease;
    this.#signs = signs;
  }

  /** The run is silent, for the `silence`th time: what waits is for it. */
  offer(silence: number): void {
    const { stop } = this.#signs;
    if (this.#isOver || this.#passing !== undefined || this.#over === silence || stop.aborted) return;
    const ended = new AbortController();
    const end = () => ended.abort(new NotNow('The run is over, or is being stopped.'));
    stop.addEventListener('abort', end);
    this.#end = end;
    this.#passing = this.#pass(ended.signal)
      .then((taken) => {
        if (!taken) this.#over = silence;
      })
      .catch((error: unknown) => {
        if (error instanceof HandOver || this.#lease.signal.aborted) return;
        this.#over = silence;
        this.#parts.log.warn(
          { err: error, turn: this.#turn.id },
          'a message could not be passed on to the silent run; its own turn comes next',
        );
      })
      .finally(() => {
        stop.removeEventListener('abort', end);
        this.#end = undefined;
        this.#passing = undefined;
      });
  }

  /** The run is followed no more. Waits for what is under way, up to its next step: two turns must not send the same. */
  async done(): Promise<void> {
    this.#isOver = true;
    this.#end?.();
    await this.#passing;
  }

  /** Passes one message on; false where the service takes none. */
  async #pass(ended: AbortSignal): Promise<boolean> {
    const turn = await this.#next();
    if (turn === undefined) return true;
    const { store, log } = this.#parts;
    let notes: readonly FileNote[] = [];
    const asking = new Asking(this.#parts, this.#workspace, turn, this.#lease, {
      ...this.#manner(turn, ended),
      files: (all) => {
        notes = all;
      },
    });
    try {
      await asking.go();
      this.passed = true;
      log.info({ turn: this.#turn.id, passed: turn.id }, 'a message was passed on to the silent run');
      this.#signs.passedOn(await this.#workspace.people.personName(turn.asker), notes);
    } catch (error) {
      // After the lease the turn may be that of the process that holds the thread now.
      if (this.#lease.remainingMs() <= 0) throw error;
      if (error instanceof NotNow) return await this.#putBack(turn);
      if (!(error instanceof TurnEnds) || error.sentence !== null) throw error;
      await closeMessage(this.#parts, turn);
      await store.turns.finish(turn, error.outcome);
    }
    return true;
  }

  async #putBack(turn: Turn): Promise<false> {
    const waits = await putBack(this.#parts, turn);
    if (waits && !this.#isOver) this.#signs.putBack();
    return false;
  }

  /** The turn that an earlier process began to pass on, or one for the thread's next waiting message. */
  async #next(): Promise<Turn | undefined> {
    const { store } = this.#parts;
    const begun = await store.turns.halfPassed(this.#turn);
    if (begun !== undefined) return begun;
    const current = await store.turns.get(this.#turn.workspace, this.#turn.id);
    if (current?.stop_asked_at !== null) return undefined;
    const message = await nextAdmitted(this.#parts, this.#workspace, this.#turn, this.#lease, {
      atOnce: true,
    });
    if (message === undefined || message.words === null) return undefined;
    if (asksNothing(message.words, this.#workspace.bot.userId)) return undefined;
    return beginTurn(this.#parts, this.#workspace, nextId(), message, this.#turn.id);
  }

  #manner(turn: Turn, ended: AbortSignal): Omit<AskingManner, 'files'> {
    return {
      step: () => undefined,
      stop: ended,
      uploading: () => undefined,
      patiently: (step) =>
        patiently(
          this.#lease,
          () => step().catch(asNotNow),
          (trouble, error) => {
            if (trouble !== undefined)
              this.#parts.log.warn({ err: error, turn: turn.id, trouble }, 'a step waits');
          },
          { wake: ended },
        ),
    };
  }
}

/** The service takes no message while the agent works. */
class NotNow extends Error {}

function asNotNow(error: unknown): never {
  const notNow = error instanceof AgentBusyError || error instanceof Held;
  throw notNow ? new NotNow('The run takes no message now.', { cause: error }) : error;
}
