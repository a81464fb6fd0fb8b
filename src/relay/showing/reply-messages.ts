import { onlyPlainText, withPlainText } from '../../reply/fallback.ts';
import { withPlainThumbs } from '../../reply/feedback.ts';
import type { RenderedMessage } from '../../reply/slack-blocks.ts';
import { ChannelGone, MessageGone, PayloadRefused, type SlackError } from '../../slack/errors.ts';
import type { EditState } from '../../slack/posting.ts';
import type { TurnPlace } from '../../store/tables.ts';
import type { RelayParts, Workspace } from '../context.ts';
import type { Lease } from '../lease.ts';
import { digestOf } from './rendered.ts';
import { ShownText } from './shown-text.ts';
import { ThreadPosts } from './thread-posts.ts';

/** What a live reply shows: rendered anew whenever it may be shown, so that the latest state wins. */
export interface ReplySource {
  /** The messages that the reply consists of now. */
  render(): RenderedMessage[];
  /** What was rendered is not looked at again soon: it is shown, or out of date when an edit may be sent. */
  forget(): void;
  /** The answer as it is now. */
  answer(): string;
  /** Lets the answer go on in a new message at this place (characters), from now on. */
  breakAt(at: number): Promise<void>;
  /** Brings the source up to date, just before it is shown. */
  refresh(): Promise<void>;
  /** Whether nothing of the answer is shown by the first message yet. */
  blank(): boolean;
}

/** How an edit waits for its turn. */
export interface EditManner {
  state: () => EditState;
  /** Withdraws it while it waits. */
  signal: AbortSignal;
  /** Left out where it may not be sent within this time (ms). */
  withinMs: number | undefined;
  /** Called when it may be sent, just before the message is rendered. */
  onPermit: () => Promise<void>;
}

type Form = (message: RenderedMessage) => RenderedMessage;
const asItIs: Form = (message) => message;
const plainThumbs: Form = (message) => withPlainThumbs(message) ?? message;
/** What Slack may take of a message, the fullest first; all of the answer in all but the last. */
const forms: readonly Form[] = [
  asItIs,
  plainThumbs,
  (message) => withPlainText(plainThumbs(message)),
  onlyPlainText,
  (message) => ({ ...message, blocks: [] }),
];
/** Where Slack refused the block with thumbs. */
const thumbless = new WeakSet<Workspace>();

/** Messages that were replaced, until they are deleted. */
const setAsidePrefix = 'draft:';

/** The messages in Slack that one reply consists of, the first is number 0. */
export class ReplyMessages {
  readonly #turn: TurnPlace;
  readonly #lease: Lease;
  readonly #workspace: Workspace;
  readonly #parts: RelayParts;
  readonly #source: ReplySource;
  readonly #posts: ThreadPosts;
  readonly #shown = new ShownText();
  /** Edits that this process sent and nobody counted yet. */
  edits = 0;

  constructor(parts: RelayParts, workspace: Workspace, turn: TurnPlace, source: ReplySource, lease: Lease) {
    this.#parts = parts;
    this.#workspace = workspace;
    this.#turn = turn;
    this.#source = source;
    this.#lease = lease;
    this.#posts = new ThreadPosts(parts, workspace, turn, lease);
  }

  /** Reads what earlier processes recorded. */
  async load(): Promise<void> {
    await this.#posts.load();
  }

  /** Whether the message stands in the thread. */
  has(index: number): boolean {
    return this.#posts.has(part(index));
  }

  isUpToDate(index: number, message: RenderedMessage): boolean {
    return this.#posts.shows(part(index), digestOf(message));
  }

  /** Whether people can read all of the answer that the message is to show, whatever else it shows. */
  isReadable(index: number, message: RenderedMessage): boolean {
    if (!this.has(index)) return false;
    const { source } = message;
    return source === undefined || this.#shown.covers(part(index), source, this.#source.answer());
  }

  /** Up to where (characters) a message that begins at `from` shows the answer as it is now. */
  standing(index: number, from: number): number | 'changed' | 'unknown' {
    return this.#shown.standing(part(index), from, this.#source.answer());
  }

  /** Posts a message that is not there yet. Throws a SlackError. */
  async post(index: number, kind: 'first' | 'final'): Promise<void> {
    const message = this.#source.render()[index];
    if (message === undefined) return;
    const answer = this.#source.answer();
    await this.#inAnyForm(
      () => message,
      (form) => this.#posts.post(part(index), form(message), digestOf(message), kind),
    );
    this.#shown.note(part(index), message.source, answer);
  }

  /** Edits a message, to what is to be shown when the budget allows it. Throws a SlackError. */
  async edit(index: number, manner: EditManner): Promise<'shown' | 'left_out'> {
    const ts = this.#posts.tsOf(part(index));
    if (ts === undefined) return 'shown';
    let shown: RenderedMessage | undefined;
    let answer = '';
    const request = (form: (message: RenderedMessage) => RenderedMessage) => ({
      channel: this.#turn.channel,
      ts,
      guard: this.#lease,
      signal: manner.signal,
      withinMs: manner.withinMs,
      state: manner.state,
      render: async () => {
        // What was rendered for a try that Slack throttled is not shown.
        shown = undefined;
        await manner.onPermit();
        const message = this.#source.render()[index];
        if (message === undefined || this.isUpToDate(index, message)) return undefined;
        await this.#posts.changing(part(index));
        shown = message;
        answer = this.#source.answer();
        return form(message);
      },
    });
    const { posting } = this.#workspace;
    try {
      const edited = await this.#inAnyForm(
        () => shown,
        (form) => posting.edit(request(form)),
      );
      if (edited === 'left_out') return 'left_out';
    } catch (error) {
      if (!(error instanceof MessageGone) || hasNoPlace(error)) throw error;
      await this.#posts.lost(part(index));
      return 'shown';
    }
    if (shown === undefined) return 'shown';
    this.edits += 1;
    this.#shown.note(part(index), shown.source, answer);
    await this.#posts.showing(part(index), digestOf(shown));
    return 'shown';
  }

  /** Sets this message and all after it aside: they are posted anew, and deleted by `removeOthers`. */
  async setAside(index: number): Promise<void> {
    for (let next = index; this.has(next); next += 1) {
      await this.#posts.setAside(part(next), `${setAsidePrefix}${this.#posts.tsOf(part(next))}`);
      this.#shown.forget(part(next));
    }
  }

  /** Deletes what was set aside, and the messages from number `count` on. */
  async removeOthers(count: number): Promise<void> {
    const kept = Array.from({ length: count }, (_, index) => part(index));
    await this.#posts.removeAll('reply:', new Set(kept));
    await this.#posts.removeAll(setAsidePrefix);
  }

  /** Shows a message in the fullest form that Slack takes. */
  async #inAnyForm<T>(
    message: () => RenderedMessage | undefined,
    show: (form: Form) => Promise<T>,
  ): Promise<T> {
    const refused = new Set<string>();
    let last: unknown;
    for (const form of thumbless.has(this.#workspace) ? forms.slice(1) : forms) {
      const before = message();
      if (before !== undefined && refused.has(digestOf(form(before)))) continue;
      try {
        const value = await show(form);
        if (form === plainThumbs) thumbless.add(this.#workspace);
        return value;
      } catch (error) {
        if (!(error instanceof PayloadRefused)) throw error;
        this.#parts.log.error(
          { err: error, turn: this.#turn.id },
          'Slack refused the blocks; showing simpler ones',
        );
        const tried = message();
        if (tried !== undefined) refused.add(digestOf(form(tried)));
        last = error;
      }
    }
    throw last;
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
