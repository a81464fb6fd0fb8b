import { setTimeout as sleep } from 'node:timers/promises';
import type { RenderedMessage } from '../reply/slack-blocks.ts';
import { ChannelGone, MessageGone, PayloadRefused, type SlackError } from '../slack/errors.ts';
import { plain } from '../slack/message.ts';
import type { PostKind } from '../slack/posting.ts';
import type { Turn } from '../store/tables.ts';
import type { RelayParts, Workspace } from './context.ts';
import type { Lease } from './dispatcher.ts';
import { passing, patiently, pauseMs } from './patience.ts';
import { digestOf } from './reply-state.ts';
import { ThreadPosts } from './thread-posts.ts';

/** What a live reply shows: rendered anew whenever it may be shown, so that the latest state wins. */
export interface ReplySource {
  /** The messages that the reply consists of now. */
  render(): RenderedMessage[];
  /** Brings the source up to date, just before it is shown. */
  refresh(): Promise<void>;
  /** Whether nothing of the answer is shown by the first message yet. */
  blank(): boolean;
}

/**
 * One turn's reply in its thread. `changed` says that there is something new to show; the reply asks the budget for
 * an edit and renders when it gets one. `settle` shows the final state before it returns.
 */
export class LiveReply {
  readonly #turn: Turn;
  readonly #lease: Lease;
  readonly #workspace: Workspace;
  readonly #source: ReplySource;
  readonly #posts: ThreadPosts;
  readonly #parts: RelayParts;
  readonly #stop = new AbortController();
  /** Aborted when the final state is there. */
  readonly #ending = new AbortController();
  #unseenSince: number | undefined;
  #wake: (() => void) | undefined;
  #running: Promise<void> | undefined;
  /** Edits that this process sent. */
  edits = 0;
  /** Set when Slack has no place for the reply any more. */
  lost: SlackError | undefined;

  constructor(parts: RelayParts, workspace: Workspace, turn: Turn, source: ReplySource, lease: Lease) {
    this.#parts = parts;
    this.#workspace = workspace;
    this.#turn = turn;
    this.#source = source;
    this.#lease = lease;
    this.#posts = new ThreadPosts(parts, workspace, turn, lease);
  }

  /** Posts the first message, or finds the one that an earlier process posted; then shows what changes. */
  async open(): Promise<void> {
    if (this.#running !== undefined) return;
    await this.#posts.load();
    if (!this.#posts.has(part(0))) await this.#post(0, 'first');
    this.#lease.signal.addEventListener('abort', () => this.#wake?.(), { once: true });
    this.#running = this.#follow();
  }

  get #final(): boolean {
    return this.#ending.signal.aborted;
  }

  /** There is something new to show. */
  changed(): void {
    this.#unseenSince ??= Date.now();
    this.#wake?.();
  }

  /** Shows the final state; returns when people see it. */
  async settle(): Promise<void> {
    this.#ending.abort();
    this.changed();
    this.#workspace.posting.nudgeEdits();
    await this.#running;
    await patiently(
      this.#lease,
      async () => {
        await this.#show();
        // The end may take fewer messages than the draft did.
        const kept = this.#source.render().map((_, index) => part(index));
        await this.#posts.removeAll('reply:', new Set(kept));
      },
      () => undefined,
    );
  }

  /** Stops showing; what stands in the thread stays. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#wake?.();
    await this.#running?.catch(() => undefined);
    if (this.edits > 0) await this.#parts.store.turns.countEdits(this.#turn, this.edits);
    this.edits = 0;
  }

  /** Takes the reply out of the thread again: the message was taken back before it was sent. */
  async remove(): Promise<void> {
    await this.close();
    await this.#posts.removeAll('reply:');
  }

  async #follow(): Promise<void> {
    let failures = 0;
    while (!this.#final && !this.#stop.signal.aborted && !this.#lease.signal.aborted) {
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
        if (this.#stop.signal.aborted || this.#lease.signal.aborted) return;
        if (hasNoPlace(error)) {
          this.lost = error;
          return;
        }
        this.#parts.log.warn(
          { err: error, turn: this.#turn.id },
          'the live reply could not be shown; trying again',
        );
        failures += 1;
        await this.#rest(Math.max(passing(error)?.waitMs ?? 0, pauseMs(failures)));
      }
    }
  }

  /** A pause (ms) after a failure, cut short by the end of the turn. */
  async #rest(ms: number): Promise<void> {
    const signal = AbortSignal.any([this.#lease.signal, this.#stop.signal, this.#ending.signal]);
    await sleep(ms, undefined, { signal }).catch(() => undefined);
  }

  /** Brings the thread to the source's state: new messages first (posts are not scarce), then edits in order. */
  async #show(): Promise<void> {
    for (;;) {
      this.#unseenSince ??= Date.now();
      const messages = this.#source.render();
      const missing = messages.findIndex((_, index) => !this.#posts.has(part(index)));
      if (missing >= 0) {
        await this.#post(missing, missing === 0 ? 'first' : 'final');
        continue;
      }
      const stale = messages.findIndex(
        (message, index) => !this.#posts.shows(part(index), digestOf(message)),
      );
      if (stale < 0) {
        this.#unseenSince = undefined;
        return;
      }
      await this.#edit(stale);
    }
  }

  async #post(index: number, kind: PostKind): Promise<void> {
    const message = this.#source.render()[index];
    if (message === undefined) return;
    try {
      await this.#posts.post(part(index), message, digestOf(message), kind);
    } catch (error) {
      if (!(error instanceof PayloadRefused)) throw error;
      this.#parts.log.error(
        { err: error, turn: this.#turn.id },
        'Slack refused the blocks; posting plain text',
      );
      await this.#posts.post(part(index), { ...plain(message), blocks: [] }, digestOf(message), kind);
    }
  }

  async #edit(index: number): Promise<void> {
    const ts = this.#posts.tsOf(part(index));
    if (ts === undefined) return;
    let shown: RenderedMessage | undefined;
    const request = (render: (message: RenderedMessage) => RenderedMessage) => ({
      channel: this.#turn.channel,
      ts,
      guard: this.#lease,
      signal: AbortSignal.any([this.#stop.signal, this.#lease.signal]),
      state: () => ({
        final: this.#final,
        blank: this.#source.blank(),
        unseenSince: this.#unseenSince ?? Date.now(),
      }),
      render: async () => {
        if (!this.#final) await this.#source.refresh();
        const message = this.#source.render()[index];
        if (message === undefined || this.#posts.shows(part(index), digestOf(message))) return undefined;
        this.#unseenSince = undefined;
        shown = message;
        return render(message);
      },
    });
    try {
      await this.#workspace.posting.edit(request((message) => message));
    } catch (error) {
      if (error instanceof MessageGone && !hasNoPlace(error)) {
        await this.#posts.lost(part(index));
        return;
      }
      if (!(error instanceof PayloadRefused)) throw error;
      this.#parts.log.error(
        { err: error, turn: this.#turn.id },
        'Slack refused the blocks; showing plain text',
      );
      await this.#workspace.posting.edit(request((message) => ({ ...plain(message), blocks: [] })));
    }
    if (shown === undefined) return;
    this.edits += 1;
    await this.#posts.showing(part(index), digestOf(shown));
  }
}

/** Whether the channel is closed to us, or people deleted our reply or its thread: there is nothing to go on in. */
export function hasNoPlace(error: unknown): error is SlackError {
  if (error instanceof ChannelGone) return true;
  return error instanceof MessageGone && deleted.has(error.slackCode);
}

const deleted = new Set(['message_not_found', 'thread_not_found', 'invalid_thread_ts']);

function part(index: number): string {
  return `reply:${index}`;
}
