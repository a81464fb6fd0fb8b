import { AgentBusyError } from '../../agent/errors.ts';
import { uuidV7Generator } from '../../store/queue/uuid-v7.ts';
import type { FileNote, Turn, TurnLocation } from '../../store/schema.ts';
import { nextAllowedMessage } from '../access/next-message.ts';
import { beginTurnOrRefuse } from '../access/turn-quotas.ts';
import { isEmptyMessage } from '../reading/empty-message.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import type { Lease } from '../runtime/lease.ts';
import { withRetry } from '../runtime/retry.ts';
import { HandOver, MessagesPaused, TurnEnded } from '../runtime/turn-errors.ts';
import { closeMessage, putBack } from './put-back.ts';
import { Sender, type SenderOptions } from './sender.ts';

/** Hears what became of a message that was offered to the silent run, and says when that is stopped. */
export interface ForwardingOptions {
  /** Aborted when somebody asks for the stop of the running turn. */
  stopSignal: AbortSignal;
  /** It is at the service; `writer` is who wrote it, `notes` says what became of its files. */
  onForwarded(writer: string, notes: readonly FileNote[]): void;
  /** The service takes nothing while the agent works: the message waits again. */
  onPutBack(): void;
}

const nextTurnId = uuidV7Generator();

/**
 * Sends the thread's next waiting message to a run that is silent, perhaps because it waits for a person. The message
 * gets a turn of its own beside the running one; when that is over, it goes on as any other.
 */
export class MidRunForwarding {
  readonly #deps: RelayDeps;
  readonly #workspace: WorkspaceClient;
  readonly #turn: TurnLocation;
  readonly #lease: Lease;
  readonly #options: ForwardingOptions;
  /** The silence in which nothing more is tried. */
  #exhaustedSilence: number | undefined;
  #forwarding: Promise<void> | undefined;
  /** Ends what is under way, because the run was stopped or has ended: what is not sent waits again. */
  #cancel: (() => void) | undefined;
  #isStopped = false;
  /** Whether the run was given another message. */
  hasForwarded = false;

  constructor(
    deps: RelayDeps,
    workspace: WorkspaceClient,
    turn: TurnLocation,
    lease: Lease,
    options: ForwardingOptions,
  ) {
    this.#deps = deps;
    this.#workspace = workspace;
    this.#turn = turn;
    this.#lease = lease;
    this.#options = options;
  }

  /** The run is silent, for the `silence`th time: what waits is for it. */
  offer(silence: number): void {
    const { stopSignal } = this.#options;
    if (
      this.#isStopped ||
      this.#forwarding !== undefined ||
      this.#exhaustedSilence === silence ||
      stopSignal.aborted
    )
      return;
    const ended = new AbortController();
    const cancel = () => ended.abort(new RunNotAccepting('The run is over, or is being stopped.'));
    stopSignal.addEventListener('abort', cancel);
    this.#cancel = cancel;
    this.#forwarding = this.#forward(ended.signal)
      .then((isTaken) => {
        if (!isTaken) this.#exhaustedSilence = silence;
      })
      .catch((error: unknown) => {
        if (error instanceof HandOver || this.#lease.signal.aborted) return;
        this.#exhaustedSilence = silence;
        this.#deps.log.warn(
          { err: error, turn: this.#turn.id },
          'a message could not be passed on to the silent run; its own turn comes next',
        );
      })
      .finally(() => {
        stopSignal.removeEventListener('abort', cancel);
        this.#cancel = undefined;
        this.#forwarding = undefined;
      });
  }

  /** The run is followed no more. Waits for what is under way, up to its next step: two turns must not send the same. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel?.();
    await this.#forwarding;
  }

  /** Passes one message on; false where the service takes none. */
  async #forward(ended: AbortSignal): Promise<boolean> {
    const turn = await this.#nextTurn();
    if (turn === undefined) return true;
    const { store, log } = this.#deps;
    let notes: readonly FileNote[] = [];
    const sender = new Sender(this.#deps, this.#workspace, turn, this.#lease, {
      ...this.#senderOptions(turn, ended),
      onFileNotes: (all) => {
        notes = all;
      },
    });
    try {
      await sender.send();
      this.hasForwarded = true;
      log.info({ turn: this.#turn.id, passed: turn.id }, 'a message was passed on to the silent run');
      this.#options.onForwarded(await this.#workspace.people.personName(turn.asker), notes);
    } catch (error) {
      // After the lease the turn may be that of the process that holds the thread now.
      if (this.#lease.remainingMs() <= 0) throw error;
      if (error instanceof RunNotAccepting) return await this.#putBack(turn);
      if (!(error instanceof TurnEnded) || error.sentence !== null) throw error;
      await closeMessage(this.#deps, turn);
      await store.turns.finish(turn, error.outcome);
    }
    return true;
  }

  async #putBack(turn: Turn): Promise<false> {
    const isWaiting = await putBack(this.#deps, turn);
    if (isWaiting && !this.#isStopped) this.#options.onPutBack();
    return false;
  }

  /** The turn that an earlier process began to pass on, or one for the thread's next waiting message. */
  async #nextTurn(): Promise<Turn | undefined> {
    const { store } = this.#deps;
    const begunTurn = await store.turns.unfinishedForward(this.#turn);
    if (begunTurn !== undefined) return begunTurn;
    const current = await store.turns.get(this.#turn.workspace, this.#turn.id);
    if (current?.stop_asked_at !== null) return undefined;
    const message = await nextAllowedMessage(this.#deps, this.#workspace, this.#turn, this.#lease, {
      failFast: true,
    });
    if (message === undefined || message.words === null) return undefined;
    if (isEmptyMessage(message.words, this.#workspace.bot.userId)) return undefined;
    return beginTurnOrRefuse(this.#deps, this.#workspace, nextTurnId(), message, this.#turn.id);
  }

  #senderOptions(turn: Turn, ended: AbortSignal): Omit<SenderOptions, 'onFileNotes'> {
    return {
      onStep: () => undefined,
      stopSignal: ended,
      onUploadProgress: () => undefined,
      withRetry: (step) =>
        withRetry(
          this.#lease,
          () => step().catch(rethrowAsNotAccepting),
          (cause, error) => {
            if (cause !== undefined)
              this.#deps.log.warn({ err: error, turn: turn.id, trouble: cause }, 'a step waits');
          },
          { wake: ended },
        ),
    };
  }
}

/** The service takes no message while the agent works. */
class RunNotAccepting extends Error {}

function rethrowAsNotAccepting(error: unknown): never {
  const notNow = error instanceof AgentBusyError || error instanceof MessagesPaused;
  throw notNow ? new RunNotAccepting('The run takes no message now.', { cause: error }) : error;
}
