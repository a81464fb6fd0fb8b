import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { withPlainFeedbackButtons } from '../../render/messages/feedback-buttons.ts';
import { onlyPlainText, withPlainText } from '../../render/messages/plain-text-message.ts';
import {
  ChannelGoneError,
  MessageGoneError,
  PayloadRefusedError,
  type SlackError,
} from '../../slack/errors.ts';
import type { EditState } from '../../slack/posting.ts';
import type { TurnLocation } from '../../store/schema.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import type { Lease } from '../runtime/lease.ts';
import { DisplayedText } from './displayed-text.ts';
import { messageDigest } from './reply-blocks.ts';
import { ThreadPosts } from './thread-posts.ts';

/** What a live reply shows: rendered anew whenever it may be shown, so that the latest state wins. */
export interface ReplySource {
  /** The messages that the reply consists of now. */
  render(): RenderedMessage[];
  /** What was rendered is not looked at again soon: it is shown, or out of date when an edit may be sent. */
  discardRendered(): void;
  /** The answer as it is now. */
  answer(): string;
  /** Lets the answer go on in a new message at this place (characters), from now on. */
  breakAt(at: number): Promise<void>;
  /** Brings the source up to date, just before it is shown. */
  refresh(): Promise<void>;
  /** Whether nothing of the answer is shown by the first message yet. */
  isBlank(): boolean;
}

/** How an edit waits for its turn. */
export interface EditOptions {
  state: () => EditState;
  /** Withdraws it while it waits. */
  signal: AbortSignal;
  /** Left out where it may not be sent within this time (ms). */
  withinMs: number | undefined;
  /** Called when it may be sent, just before the message is rendered. */
  onPermit: () => Promise<void>;
}

type MessageForm = (message: RenderedMessage) => RenderedMessage;
const asIs: MessageForm = (message) => message;
const withPlainFeedback: MessageForm = (message) => withPlainFeedbackButtons(message) ?? message;
/** What Slack may take of a message, the fullest first; all of the answer in all but the last. */
const MESSAGE_FORMS: readonly MessageForm[] = [
  asIs,
  withPlainFeedback,
  (message) => withPlainText(withPlainFeedback(message)),
  onlyPlainText,
  (message) => ({ ...message, blocks: [] }),
];
/** Where Slack refused the block with thumbs. */
const workspacesWithoutFeedbackBlock = new WeakSet<WorkspaceClient>();

/** Messages that were replaced, until they are deleted. */
const REPLACED_PREFIX = 'draft:';

/** The messages in Slack that one reply consists of, the first is number 0. */
export class ReplyMessages {
  readonly #turn: TurnLocation;
  readonly #lease: Lease;
  readonly #workspace: WorkspaceClient;
  readonly #deps: RelayDeps;
  readonly #source: ReplySource;
  readonly #posts: ThreadPosts;
  readonly #displayedText = new DisplayedText();
  /** Edits that this process sent and nobody counted yet. */
  uncountedEdits = 0;

  constructor(
    deps: RelayDeps,
    workspace: WorkspaceClient,
    turn: TurnLocation,
    source: ReplySource,
    lease: Lease,
  ) {
    this.#deps = deps;
    this.#workspace = workspace;
    this.#turn = turn;
    this.#source = source;
    this.#lease = lease;
    this.#posts = new ThreadPosts(deps, workspace, turn, lease);
  }

  /** Reads what earlier processes recorded. */
  async load(): Promise<void> {
    await this.#posts.load();
  }

  /** Whether the message stands in the thread. */
  has(index: number): boolean {
    return this.#posts.has(partName(index));
  }

  isUpToDate(index: number, message: RenderedMessage): boolean {
    return this.#posts.shows(partName(index), messageDigest(message));
  }

  /** Whether people can read all of the answer that the message is to show, whatever else it shows. */
  isReadable(index: number, message: RenderedMessage): boolean {
    if (!this.has(index)) return false;
    const { source } = message;
    return source === undefined || this.#displayedText.covers(partName(index), source, this.#source.answer());
  }

  /** Up to where (characters) a message that begins at `from` shows the answer as it is now. */
  displayedUpTo(index: number, from: number): number | 'changed' | 'unknown' {
    return this.#displayedText.displayedUpTo(partName(index), from, this.#source.answer());
  }

  /** Posts a message that is not there yet. Throws a SlackError. */
  async post(index: number, kind: 'first' | 'final'): Promise<void> {
    const message = this.#source.render()[index];
    if (message === undefined) return;
    const answer = this.#source.answer();
    await this.#withFallbackForms(
      () => message,
      (form) => this.#posts.post(partName(index), form(message), messageDigest(message), kind),
    );
    this.#displayedText.record(partName(index), message.source, answer);
  }

  /** Edits a message, to what is to be shown when the budget allows it. Throws a SlackError. */
  async edit(index: number, options: EditOptions): Promise<'shown' | 'left_out'> {
    const ts = this.#posts.tsOf(partName(index));
    if (ts === undefined) return 'shown';
    let shown: RenderedMessage | undefined;
    let answer = '';
    const request = (form: (message: RenderedMessage) => RenderedMessage) => ({
      channel: this.#turn.channel,
      ts,
      guard: this.#lease,
      signal: options.signal,
      withinMs: options.withinMs,
      state: options.state,
      render: async () => {
        // What was rendered for a try that Slack throttled is not shown.
        shown = undefined;
        await options.onPermit();
        const message = this.#source.render()[index];
        if (message === undefined || this.isUpToDate(index, message)) return undefined;
        await this.#posts.markUnknown(partName(index));
        shown = message;
        answer = this.#source.answer();
        return form(message);
      },
    });
    const { posting } = this.#workspace;
    try {
      const edited = await this.#withFallbackForms(
        () => shown,
        (form) => posting.edit(request(form)),
      );
      if (edited === 'left_out') return 'left_out';
    } catch (error) {
      if (!(error instanceof MessageGoneError) || isThreadUnreachable(error)) throw error;
      await this.#posts.markGone(partName(index));
      return 'shown';
    }
    if (shown === undefined) return 'shown';
    this.uncountedEdits += 1;
    this.#displayedText.record(partName(index), shown.source, answer);
    await this.#posts.recordShown(partName(index), messageDigest(shown));
    return 'shown';
  }

  /** Sets this message and all after it aside: they are posted anew, and deleted by `removeOthers`. */
  async markReplaced(index: number): Promise<void> {
    for (let next = index; this.has(next); next += 1) {
      await this.#posts.renamePart(partName(next), `${REPLACED_PREFIX}${this.#posts.tsOf(partName(next))}`);
      this.#displayedText.forget(partName(next));
    }
  }

  /** Deletes what was set aside, and the messages from number `count` on. */
  async removeExtra(count: number): Promise<void> {
    const kept = Array.from({ length: count }, (_, index) => partName(index));
    await this.#posts.removeAll('reply:', new Set(kept));
    await this.#posts.removeAll(REPLACED_PREFIX);
  }

  /** Shows a message in the fullest form that Slack takes. */
  async #withFallbackForms<T>(
    message: () => RenderedMessage | undefined,
    show: (form: MessageForm) => Promise<T>,
  ): Promise<T> {
    const refused = new Set<string>();
    let last: unknown;
    for (const form of workspacesWithoutFeedbackBlock.has(this.#workspace)
      ? MESSAGE_FORMS.slice(1)
      : MESSAGE_FORMS) {
      const before = message();
      if (before !== undefined && refused.has(messageDigest(form(before)))) continue;
      try {
        const value = await show(form);
        if (form === withPlainFeedback) workspacesWithoutFeedbackBlock.add(this.#workspace);
        return value;
      } catch (error) {
        if (!(error instanceof PayloadRefusedError)) throw error;
        this.#deps.log.error(
          { err: error, turn: this.#turn.id },
          'Slack refused the blocks; showing simpler ones',
        );
        const tried = message();
        if (tried !== undefined) refused.add(messageDigest(form(tried)));
        last = error;
      }
    }
    throw last;
  }
}

/** Whether the channel is closed to us, or people deleted our reply or its thread: there is nothing to go on in. */
export function isThreadUnreachable(error: unknown): error is SlackError {
  if (error instanceof ChannelGoneError) return true;
  return error instanceof MessageGoneError && DELETED_THREAD_CODES.has(error.slackCode);
}

const DELETED_THREAD_CODES = new Set(['message_not_found', 'thread_not_found', 'invalid_thread_ts']);

function partName(index: number): string {
  return `reply:${index}`;
}
