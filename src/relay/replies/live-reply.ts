import { setTimeout as sleep } from 'node:timers/promises';
import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { breakPoint } from '../../render/splitting/break-point.ts';
import { SlackError } from '../../slack/errors.ts';
import type { TurnLocation } from '../../store/schema.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import type { Lease } from '../runtime/lease.ts';
import { backoffMs, transientFailure, withRetry } from '../runtime/retry.ts';
import { isThreadUnreachable, ReplyMessages, type ReplySource } from './reply-messages.ts';

/** A final edit that the budget does not give within this time (ms) is not waited for: the text goes on below. */
const FINAL_EDIT_TIMEOUT_MS = 1_500;
/** What cannot be tidied up for so long (ms) stays as it is: the next message must not wait for it. */
const FINALIZE_TIMEOUT_MS = 10 * 60_000;

/**
 * One turn's reply in its thread. `changed` says that there is something new to show; the reply asks the budget for
 * an edit and renders when it gets one. `settle` shows the whole text before it returns, in new messages where no
 * edit is to be had; `tidy` brings the messages into their final form.
 */
export class LiveReply {
  readonly #deps: RelayDeps;
  readonly #turn: TurnLocation;
  readonly #source: ReplySource;
  readonly #lease: Lease;
  readonly #messages: ReplyMessages;
  /** Withdraws what waits to be shown. */
  #pendingEdits = new AbortController();
  /** The final state is there. */
  #isFinal = false;
  #isClosed = false;
  #isFinalizing = false;
  #unseenSince: number | undefined;
  #wake: (() => void) | undefined;
  #showLoop: Promise<void> | undefined;
  /** Set when Slack has no place for the reply any more. */
  unreachable: SlackError | undefined;

  constructor(
    deps: RelayDeps,
    workspace: WorkspaceClient,
    turn: TurnLocation,
    source: ReplySource,
    lease: Lease,
  ) {
    this.#deps = deps;
    this.#turn = turn;
    this.#source = source;
    this.#lease = lease;
    this.#messages = new ReplyMessages(deps, workspace, turn, source, lease);
  }

  /** Posts the first message, or finds the one that an earlier process posted; then shows what changes. */
  async open(): Promise<void> {
    if (this.#showLoop !== undefined) return;
    await this.#messages.load();
    if (!this.#messages.has(0)) await this.#messages.post(0, 'first');
    this.#lease.signal.addEventListener('abort', () => this.#wake?.(), { once: true });
    this.#showLoop = this.#showChanges();
  }

  /** There is something new to show. */
  onChanged(): void {
    this.#unseenSince ??= Date.now();
    this.#wake?.();
  }

  /** Shows the final text; returns when people can read it. */
  async showFinalText(): Promise<void> {
    this.#isFinal = true;
    // A live edit that still waits makes way; those of the end wait anew.
    this.#pendingEdits.abort();
    if (!this.#isClosed) this.#pendingEdits = new AbortController();
    this.onChanged();
    await this.#showLoop;
    await this.#withRetry(() => this.#showWholeText());
  }

  /** Takes what is left of the progress from the messages, and deletes those that were replaced. */
  async finalize(): Promise<void> {
    this.#isFinalizing = true;
    const finalize = async () => {
      await this.#showLatest();
      // The end may take fewer messages than the draft did.
      await this.#messages.removeExtra(this.#source.render().length);
    };
    try {
      await this.#withRetry(finalize, FINALIZE_TIMEOUT_MS);
    } catch (error) {
      if (!(error instanceof SlackError) || transientFailure(error) === undefined) throw error;
      if (this.#lease.signal.aborted) throw error;
      this.#deps.log.warn({ err: error, turn: this.#turn.id }, 'a reply is left as it is, with its progress');
    }
  }

  /** Stops showing; what stands in the thread stays. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#pendingEdits.abort();
    this.#wake?.();
    await this.#showLoop?.catch(() => undefined);
    const { uncountedEdits: edits } = this.#messages;
    if (edits > 0) await this.#deps.store.turns.countEdits(this.#turn, edits);
    this.#messages.uncountedEdits = 0;
  }

  /** Takes the reply out of the thread again: the message was taken back before it was sent. */
  async remove(): Promise<void> {
    await this.close();
    await this.#messages.removeExtra(0);
  }

  get #isOver(): boolean {
    return this.#isFinal || this.#isClosed || this.#lease.signal.aborted;
  }

  async #showChanges(): Promise<void> {
    let failures = 0;
    while (!this.#isOver) {
      if (this.#unseenSince === undefined) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      try {
        await this.#showLatest();
        failures = 0;
      } catch (error) {
        if (this.#isOver) return;
        if (isThreadUnreachable(error)) {
          this.unreachable = error;
          return;
        }
        this.#deps.log.warn(
          { err: error, turn: this.#turn.id },
          'the live reply could not be shown; trying again',
        );
        failures += 1;
        this.#unseenSince ??= Date.now();
        await this.#pauseAfterFailure(Math.max(transientFailure(error)?.waitMs ?? 0, backoffMs(failures)));
      }
    }
  }

  /** A pause (ms) after a failure, cut short by the end of the turn. */
  async #pauseAfterFailure(ms: number): Promise<void> {
    const signal = AbortSignal.any([this.#lease.signal, this.#pendingEdits.signal]);
    await sleep(ms, undefined, { signal }).catch(() => undefined);
  }

  /** Brings the thread to the source's state, message by message, so that people never read past a hole. */
  async #showLatest(): Promise<void> {
    while (!this.#isFinal || this.#isFinalizing) {
      this.#unseenSince ??= Date.now();
      const outdated = this.#source
        .render()
        .findIndex((message, index) => !this.#messages.isUpToDate(index, message));
      if (outdated < 0) {
        this.#unseenSince = undefined;
        this.#source.discardRendered();
        return;
      }
      if (this.#messages.has(outdated)) await this.#edit(outdated);
      else await this.#messages.post(outdated, 'final');
    }
  }

  /** Shows the whole text, and the last message as it is to stay, without waiting long for edits. */
  async #showWholeText(): Promise<void> {
    let mayWait = true;
    for (;;) {
      const all = this.#source.render();
      const outdated = all.findIndex((message, index) => {
        if (this.#messages.isUpToDate(index, message)) return false;
        return !this.#messages.isReadable(index, message) || (mayWait && index === all.length - 1);
      });
      const message = all[outdated];
      if (message === undefined) return;
      if (!this.#messages.has(outdated)) await this.#messages.post(outdated, 'final');
      else if ((await this.#edit(outdated, FINAL_EDIT_TIMEOUT_MS)) === 'left_out') {
        if (this.#messages.isReadable(outdated, message)) mayWait = false;
        else await this.#continueBelow(outdated, message);
      }
    }
  }

  /** No edit is to be had for the text that is missing: it is posted below what stands there. */
  async #continueBelow(index: number, { source }: RenderedMessage): Promise<void> {
    const from = source?.from ?? 0;
    const displayedUpTo = this.#messages.displayedUpTo(index, from);
    if (displayedUpTo === 'unknown') {
      // An earlier process showed it; only an edit makes sure.
      await this.#edit(index);
      return;
    }
    const fits = displayedUpTo !== 'changed' && source?.reopened !== true;
    const at = fits ? breakPoint(this.#source.answer(), from, displayedUpTo) : from;
    await (at > from ? this.#source.breakAt(at) : this.#messages.markReplaced(index));
  }

  async #edit(index: number, withinMs?: number): Promise<'shown' | 'left_out'> {
    this.#source.discardRendered();
    return this.#messages.edit(index, {
      withinMs,
      signal: this.#pendingEdits.signal,
      state: () => ({
        final: this.#isFinal && !this.#isFinalizing,
        blank: this.#source.isBlank(),
        unseenSince: this.#unseenSince ?? Date.now(),
      }),
      onPermit: async () => {
        if (!this.#isFinal) await this.#source.refresh();
        this.#unseenSince = undefined;
      },
    });
  }

  async #withRetry(step: () => Promise<void>, giveUpAfterMs?: number): Promise<void> {
    await withRetry(this.#lease, step, () => undefined, { giveUpAfterMs });
  }
}
