import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { MIN_PART_LENGTH } from '../../render/splitting/open-part.ts';
import type { TurnLocation } from '../../store/schema.ts';
import { replyPart } from '../../store/threads/posts.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { isDirectChannel } from '../runtime/incoming-message.ts';
import { REPLY_FORMS, textDigest } from './fallback-forms.ts';
import type { EditOutcome, IdempotentPosts, PartEdit } from './idempotent-posts.ts';
import type { ReplyState } from './reply-state.ts';
import { ReplyStreams } from './reply-streams.ts';

/** Begins the parts of messages that are deleted at the end: replaced ones, and the status beside streams. */
const DRAFT_PREFIX = 'draft:';
/** The reply's first message, if it stands apart from the text: it shows the progress and the Stop button. */
export const STATUS_PART = `${DRAFT_PREFIX}status`;

/** A message as it should be now, and the part as which it is posted. */
export interface PlannedMessage {
  part: string;
  message: RenderedMessage;
}

/** The Slack messages of one reply, and which range of the answer each of them shows. */
export class ReplyMessages {
  readonly #state: ReplyState;
  readonly #posts: IdempotentPosts;
  /** Only direct conversations have streams. */
  readonly #streams: ReplyStreams | undefined;
  readonly #sessions: ThreadWork['workspace']['sessions'];
  /** Whether the text may be streamed, in messages apart from the status. */
  readonly mayStream: boolean;
  /** Which range of the answer (characters) each part shows, as far as this process sent it. */
  readonly #ranges = new Map<string, { from: number; to: number; digest: string }>();

  constructor(work: ThreadWork, { channel }: TurnLocation, state: ReplyState, posts: IdempotentPosts) {
    const { streams, sessions } = work.workspace;
    this.#sessions = sessions;
    this.#state = state;
    this.#posts = posts;
    this.#streams = isDirectChannel(channel) ? new ReplyStreams(streams, work.lease, posts) : undefined;
    this.mayStream =
      work.deps.settings.streamsDirectMessages && this.#streams !== undefined && streams.isAvailable;
  }

  /** Finds the messages that an earlier process has posted, and whether their text stands apart. */
  async load(): Promise<void> {
    await this.#posts.load();
    if (!this.#posts.has(STATUS_PART)) return;
    this.#state.update({ isApart: true });
    if (this.#state.known.isOver) await this.reuseStatusWithoutText();
  }

  /** If the reply goes on and may be streamed, makes the first message the status: the text then has its own messages. */
  async renameFirstToStatus(): Promise<void> {
    // If the text stands elsewhere already, an earlier process may have deleted the status.
    if (!this.mayStream || this.#posts.hasRow(STATUS_PART) || this.#posts.has(replyPart(1))) return;
    this.#state.update({ isApart: true });
    if (this.#state.known.isOver) return;
    await this.#posts.rename(replyPart(0), STATUS_PART);
    this.#ranges.delete(replyPart(0));
  }

  /** If no text was posted, the status becomes the first message, to show the end. Else it is deleted later. */
  async reuseStatusWithoutText(): Promise<void> {
    if (!this.#posts.has(replyPart(0))) await this.#posts.rename(STATUS_PART, replyPart(0));
  }

  /** The messages as rendered now: the text's and then, if it stands apart, the status, which the thread has above them. */
  planned(): PlannedMessage[] {
    const messages = this.#state.render();
    const statusIndex = this.#state.isApart ? messages.length - 1 : undefined;
    return messages.map((message, index) => ({
      part: index === statusIndex ? STATUS_PART : replyPart(index),
      message,
    }));
  }

  /** Whether a message shows its latest state, or a stream as much of it as is to be shown now. */
  isUpToDate({ part, message }: PlannedMessage): boolean {
    // The status is brought up to date apart from the text, at its own pace.
    if (part === STATUS_PART) return true;
    // Once the reply is over, streams are stopped and edited: then the whole message counts.
    const streamed = this.#state.isApart ? this.#streams?.shownBy(part) : undefined;
    if (streamed === undefined) return this.#posts.shows(part, message);
    const { markdown = '', source } = message;
    if (!this.#isGrowing(part)) return streamed === markdown;
    if (this.displayedUpTo(part, source?.from ?? 0) === 'changed') return false;
    // The text of a part that is nearly full may still move to the next one: it is not added yet.
    return streamed.startsWith(markdown) || markdown.length > MIN_PART_LENGTH;
  }

  /** Whether the status surely shows its latest state. */
  isStatusShown(): boolean {
    const status = this.#find(STATUS_PART);
    return status !== undefined && this.#posts.shows(STATUS_PART, status);
  }

  /** Whether people can read the message's whole part of the answer, whatever else the message shows. */
  isReadable({ part, message: { source } }: PlannedMessage): boolean {
    if (!this.#posts.has(part)) return false;
    if (source === undefined) return true;
    const end = this.displayedUpTo(part, source.from);
    return typeof end === 'number' && end >= source.to;
  }

  /**
   * Up to where (characters) a message shows the answer from `from` on. `changed`: it shows another range, or
   * the agent has rewritten that text. `unknown`: this process has no record of what it shows.
   */
  displayedUpTo(part: string, from: number): number | 'changed' | 'unknown' {
    const range = this.#ranges.get(part);
    if (range === undefined) return 'unknown';
    // A message that shows nothing of the answer may begin anywhere.
    if (range.from !== from && range.to > range.from) return 'changed';
    const { answer } = this.#state;
    return textDigest(answer.slice(range.from, range.to)) === range.digest ? range.to : 'changed';
  }

  /** Posts a message, if it is planned and not there yet: as a stream, if it grows. Throws a SlackError. */
  async post(part: string, kind: 'first' | 'further'): Promise<void> {
    const message = this.#find(part);
    if (message === undefined) return;
    const { answer } = this.#state;
    const streams = this.#isGrowing(part) ? this.#streams : undefined;
    if (await streams?.start(part, message)) {
      await this.#posts.record();
      // Of a stream that an earlier call has begun, nobody knows what it shows.
      if (streams?.shownBy(part) === undefined) return;
    } else await this.#posts.post(part, message, kind, REPLY_FORMS);
    this.#recordRange(part, message, answer);
  }

  /**
   * Brings a message to its latest state once the budget allows it: adds what is missing to a stream, or edits the message.
   * `renderState` then renders that state. `wait` has a permit, which is for one call, only for a message that is no stream.
   * Throws a SlackError.
   */
  async edit(
    part: string,
    renderState: () => Promise<void>,
    wait: Omit<PartEdit, 'forms' | 'render'>,
  ): Promise<EditOutcome> {
    let latest: { message: RenderedMessage | undefined; answer: string } | undefined;
    const render = async () => {
      await renderState();
      latest = { message: this.#find(part), answer: this.#state.answer };
      return latest.message;
    };
    const onShown = () => {
      if (latest?.message !== undefined) this.#recordRange(part, latest.message, latest.answer);
    };
    const streams = this.#streams;
    if (streams?.shownBy(part) !== undefined) {
      const appended = await streams.append(part, { ...wait, render });
      if (appended === 'left_out') return appended;
      if (appended === 'shown') {
        onShown();
        return 'done';
      }
      // `unchanged`: the message needs an edit, unless it shows all that is to be shown now.
      if (latest?.message !== undefined && this.isUpToDate({ part, message: latest.message })) return 'done';
    }
    // A stream can be edited once it is stopped, which Slack takes for the end of the work, unless the status says otherwise.
    const session_status = this.#state.isApart && this.#sessions?.isAvailable ? 'processing' : undefined;
    const mayBeEdited = (await streams?.stop(part, { ...wait, session_status })) ?? true;
    if (!mayBeEdited) return 'left_out'; // No permit to stop it came in time.
    return this.#posts.edit(part, { ...wait, forms: REPLY_FORMS, render, onShown });
  }

  /** Makes drafts of this message and all later ones: others are posted in their place, and `removeExtra` deletes these. */
  async markReplaced(part: string): Promise<void> {
    const firstIndex = this.planned().findIndex((one) => one.part === part);
    for (let index = firstIndex; this.#posts.has(replyPart(index)); index += 1) {
      const replaced = replyPart(index);
      await this.#posts.rename(replaced, `${DRAFT_PREFIX}${this.#posts.find(replaced)?.ts}`);
      this.#ranges.delete(replaced);
    }
  }

  /** Deletes the replaced messages, and those that are not planned. */
  async removeExtra(planned: readonly PlannedMessage[]): Promise<void> {
    await this.#posts.removeAll('reply:', new Set(planned.map(({ part }) => part)));
    await this.#posts.removeAll(DRAFT_PREFIX);
  }

  #find(part: string): RenderedMessage | undefined {
    return this.planned().find((one) => one.part === part)?.message;
  }

  /** Whether a message is the last one of a text that stands apart: only the status comes after it. */
  #isGrowing(part: string): boolean {
    return this.#state.isApart && this.planned().at(-2)?.part === part;
  }

  /** Records the range that a message shows of the answer it was rendered from: none without a `source`. */
  #recordRange(part: string, { source }: RenderedMessage, answer: string): void {
    const { from, to } = source ?? { from: 0, to: 0 };
    this.#ranges.set(part, { from, to, digest: textDigest(answer.slice(from, to)) });
  }
}
