import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import type { EditRequest } from '../../slack/posting.ts';
import { replyPart } from '../../store/threads/posts.ts';
import { REPLY_FORMS } from './fallback-forms.ts';
import type { IdempotentPosts } from './idempotent-posts.ts';
import { textDigest } from './message-digest.ts';
import type { ReplyState } from './reply-state.ts';

/** How an edit waits for its permit. */
export interface ReplyEdit extends Pick<EditRequest, 'state' | 'signal' | 'maxWaitMs'> {
  /** Called when the edit may be sent, just before the message is rendered. */
  onPermit: () => Promise<void>;
}

/** Replaced messages, until they are deleted. */
const REPLACED_PREFIX = 'draft:';

/** The messages in Slack that one reply consists of; the first is number 0. */
export class ReplyMessages {
  readonly #state: ReplyState;
  readonly #posts: IdempotentPosts;
  /** Which range of the answer (characters) each part shows, as far as this process sent it. */
  readonly #ranges = new Map<string, { from: number; to: number; digest: string }>();
  /** Edits of this process that are not recorded yet. */
  uncountedEdits = 0;

  constructor(state: ReplyState, posts: IdempotentPosts) {
    this.#state = state;
    this.#posts = posts;
  }

  /** Whether the message is in the thread. */
  has(index: number): boolean {
    return this.#posts.has(replyPart(index));
  }

  isUpToDate(index: number, message: RenderedMessage): boolean {
    return this.#posts.shows(replyPart(index), message);
  }

  /** Whether people can read the message's whole part of the answer, whatever else the message shows. */
  isReadable(index: number, { source }: RenderedMessage): boolean {
    if (!this.has(index)) return false;
    if (source === undefined) return true;
    const end = this.displayedUpTo(index, source.from);
    return typeof end === 'number' && end >= source.to;
  }

  /** Up to where (characters) a message that begins at `from` shows the current answer. */
  displayedUpTo(index: number, from: number): number | 'changed' | 'unknown' {
    const shown = this.#ranges.get(replyPart(index));
    if (shown === undefined) return 'unknown';
    if (shown.from !== from && shown.to > shown.from) return 'changed';
    const { answer } = this.#state;
    return textDigest(answer.slice(shown.from, shown.to)) === shown.digest ? shown.to : 'changed';
  }

  /** Posts a message that is not there yet. Throws a SlackError. */
  async post(index: number, kind: 'first' | 'final'): Promise<void> {
    const message = this.#state.render()[index];
    if (message === undefined) return;
    const { answer } = this.#state;
    // The step that makes the reply visible records the first one.
    if (kind === 'first') await this.#posts.postUnrecorded(replyPart(index), message, kind, REPLY_FORMS);
    else await this.#posts.post(replyPart(index), message, kind, REPLY_FORMS);
    this.#recordRange(index, message, answer);
  }

  /** Edits a message to its latest state when the budget allows it. Throws a SlackError. */
  async edit(index: number, { onPermit, ...wait }: ReplyEdit): Promise<'shown' | 'left_out'> {
    let answer = '';
    return this.#posts.edit(replyPart(index), {
      ...wait,
      forms: REPLY_FORMS,
      render: async () => {
        await onPermit();
        answer = this.#state.answer;
        return this.#state.render()[index];
      },
      onShown: (message) => {
        this.uncountedEdits += 1;
        this.#recordRange(index, message, answer);
      },
    });
  }

  /** Sets this message and all later ones aside: they are posted again, and deleted by `removeExtra`. */
  async markReplaced(index: number): Promise<void> {
    for (let next = index; this.has(next); next += 1) {
      await this.#posts.setAside(replyPart(next), REPLACED_PREFIX);
      this.#ranges.delete(replyPart(next));
    }
  }

  /** Deletes the replaced messages, and those from number `count` on. */
  async removeExtra(count: number): Promise<void> {
    const kept = Array.from({ length: count }, (_, index) => replyPart(index));
    await this.#posts.removeAll('reply:', new Set(kept));
    await this.#posts.removeAll(REPLACED_PREFIX);
  }

  /** A message was sent, rendered from this answer; without `source` it shows none of it. */
  #recordRange(index: number, { source }: RenderedMessage, answer: string): void {
    const { from, to } = source ?? { from: 0, to: 0 };
    this.#ranges.set(replyPart(index), { from, to, digest: textDigest(answer.slice(from, to)) });
  }
}
