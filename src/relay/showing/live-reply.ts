import { setTimeout as sleep } from 'node:timers/promises';
import { breakPoint } from '../../reply/continuation.ts';
import type { RenderedMessage } from '../../reply/slack-blocks.ts';
import { SlackError } from '../../slack/errors.ts';
import type { TurnPlace } from '../../store/tables.ts';
import type { RelayParts, Workspace } from '../context.ts';
import type { Lease } from '../lease.ts';
import { passing, patiently, pauseMs } from '../patience.ts';
import { hasNoPlace, ReplyMessages, type ReplySource } from './reply-messages.ts';

/** A final edit that the budget does not give within this time (ms) is not waited for: the text goes on below. */
const finalPatienceMs = 1_500;
/** What cannot be tidied up for so long (ms) stays as it is: the next message must not wait for it. */
const tidyPatienceMs = 10 * 60_000;

/**
 * One turn's reply in its thread. `changed` says that there is something new to show; the reply asks the budget for
 * an edit and renders when it gets one. `settle` shows the whole text before it returns, in new messages where no
 * edit is to be had; `tidy` brings the messages into their final form.
 */
export class LiveReply {
  readonly #parts: RelayParts;
  readonly #turn: TurnPlace;
  readonly #source: ReplySource;
  readonly #lease: Lease;
  readonly #messages: ReplyMessages;
  /** Withdraws what waits to be shown. */
  #wait = new AbortController();
  /** The final state is there. */
  #final = false;
  #closed = false;
  #tidying = false;
  #unseenSince: number | undefined;
  #wake: (() => void) | undefined;
  #running: Promise<void> | undefined;
  /** Set when Slack has no place for the reply any more. */
  lost: SlackError | undefined;

  constructor(parts: RelayParts, workspace: Workspace, turn: TurnPlace, source: ReplySource, lease: Lease) {
    this.#parts = parts;
    this.#turn = turn;
    this.#source = source;
    this.#lease = lease;
    this.#messages = new ReplyMessages(parts, workspace, turn, source, lease);
  }

  /** Posts the first message, or finds the one that an earlier process posted; then shows what changes. */
  async open(): Promise<void> {
    if (this.#running !== undefined) return;
    await this.#messages.load();
    if (!this.#messages.has(0)) await this.#messages.post(0, 'first');
    this.#lease.signal.addEventListener('abort', () => this.#wake?.(), { once: true });
    this.#running = this.#showChanges();
  }

  /** There is something new to show. */
  changed(): void {
    this.#unseenSince ??= Date.now();
    this.#wake?.();
  }

  /** Shows the final text; returns when people can read it. */
  async settle(): Promise<void> {
    this.#final = true;
    // A live edit that still waits makes way; those of the end wait anew.
    this.#wait.abort();
    if (!this.#closed) this.#wait = new AbortController();
    this.changed();
    await this.#running;
    await this.#patiently(() => this.#showEnd());
  }

  /** Takes what is left of the progress from the messages, and deletes those that were replaced. */
  async tidy(): Promise<void> {
    this.#tidying = true;
    const tidy = async () => {
      await this.#show();
      // The end may take fewer messages than the draft did.
      await this.#messages.removeOthers(this.#source.render().length);
    };
    try {
      await this.#patiently(tidy, tidyPatienceMs);
    } catch (error) {
      if (!(error instanceof SlackError) || passing(error) === undefined) throw error;
      if (this.#lease.signal.aborted) throw error;
      this.#parts.log.warn(
        { err: error, turn: this.#turn.id },
        'a reply is left as it is, with its progress',
      );
    }
  }

  /** Stops showing; what stands in the thread stays. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#wait.abort();
    this.#wake?.();
    await this.#running?.catch(() => undefined);
    const { edits } = this.#messages;
    if (edits > 0) await this.#parts.store.turns.countEdits(this.#turn, edits);
    this.#messages.edits = 0;
  }

  /** Takes the reply out of the thread again: the message was taken back before it was sent. */
  async remove(): Promise<void> {
    await this.close();
    await this.#messages.removeOthers(0);
  }

  get #over(): boolean {
    return this.#final || this.#closed || this.#lease.signal.aborted;
  }

  async #showChanges(): Promise<void> {
    let failures = 0;
    while (!this.#over) {
      if (this.#unseenSince === undefined) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      try {
        await this.#show();
        failures = 0;
      } catch (error) {
        if (this.#over) return;
        if (hasNoPlace(error)) {
          this.lost = error;
          return;
        }
        this.#parts.log.warn(
          { err: error, turn: this.#turn.id },
          'the live reply could not be shown; trying again',
        );
        failures += 1;
        this.#unseenSince ??= Date.now();
        await this.#rest(Math.max(passing(error)?.waitMs ?? 0, pauseMs(failures)));
      }
    }
  }

  /** A pause (ms) after a failure, cut short by the end of the turn. */
  async #rest(ms: number): Promise<void> {
    const signal = AbortSignal.any([this.#lease.signal, this.#wait.signal]);
    await sleep(ms, undefined, { signal }).catch(() => undefined);
  }

  /** Brings the thread to the source's state, message by message, so that people never read past a hole. */
  async #show(): Promise<void> {
    while (!this.#final || this.#tidying) {
      this.#unseenSince ??= Date.now();
      const behind = this.#source
        .render()
        .findIndex((message, index) => !this.#messages.isUpToDate(index, message));
      if (behind < 0) {
        this.#unseenSince = undefined;
        this.#source.forget();
        return;
      }
      if (this.#messages.has(behind)) await this.#edit(behind);
      else await this.#messages.post(behind, 'final');
    }
  }

  /** Shows the whole text, and the last message as it is to stay, without waiting long for edits. */
  async #showEnd(): Promise<void> {
    let mayWait = true;
    for (;;) {
      const all = this.#source.render();
      const behind = all.findIndex((message, index) => {
        if (this.#messages.isUpToDate(index, message)) return false;
        return !this.#messages.isReadable(index, message) || (mayWait && index === all.length - 1);
      });
      const message = all[behind];
      if (message === undefined) return;
      if (!this.#messages.has(behind)) await this.#messages.post(behind, 'final');
      else if ((await this.#edit(behind, finalPatienceMs)) === 'left_out') {
        if (this.#messages.isReadable(behind, message)) mayWait = false;
        else await this.#goOnBelow(behind, message);
      }
    }
  }

  /** No edit is to be had for the text that is missing: it is posted below what stands there. */
  async #goOnBelow(index: number, { source }: RenderedMessage): Promise<void> {
    const from = source?.from ?? 0;
    const stands = this.#messages.standing(index, from);
    if (stands === 'unknown') {
      // An earlier process showed it; only an edit makes sure.
      await this.#edit(index);
      return;
    }
    const fits = stands !== 'changed' && source?.reopened !== true;
    const at = fits ? breakPoint(this.#source.answer(), from, stands) : from;
    await (at > from ? this.#source.breakAt(at) : this.#messages.setAside(index));
  }

  async #edit(index: number, withinMs?: number): Promise<'shown' | 'left_out'> {
    this.#source.forget();
    return this.#messages.edit(index, {
      withinMs,
      signal: this.#wait.signal,
      state: () => ({
        final: this.#final && !this.#tidying,
        blank: this.#source.blank(),
        unseenSince: this.#unseenSince ?? Date.now(),
      }),
      onPermit: async () => {
        if (!this.#final) await this.#source.refresh();
        this.#unseenSince = undefined;
      },
    });
  }

  async #patiently(step: () => Promise<void>, mostMs?: number): Promise<void> {
    await patiently(this.#lease, step, () => undefined, { mostMs });
  }
}
