import { anySignal, NO_LONGER_NEEDED, sleepUnlessAborted } from '../../calls/retries-and-waits.ts';
import { PayloadRefusedError, type SlackError } from '../../slack/errors.ts';
import type { TurnLocation } from '../../store/schema.ts';
import { replyPart } from '../../store/threads/posts.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { Poller } from '../runtime/poller.ts';
import {
  backoffMs,
  isThreadUnreachable,
  slackPatience,
  ThreadGivenUp,
  transientFailure,
  withRetry,
} from '../runtime/retry-and-giving-up.ts';
import { IdempotentPosts } from './idempotent-posts.ts';
import { type PlannedMessage, ReplyMessages, STATUS_PART } from './reply-messages.ts';
import type { ReplyState } from './reply-state.ts';
import { ThreadFiles } from './thread-files.ts';

/** A final edit without a permit within this time (ms) is left out: the text continues in a new message. */
const FINAL_EDIT_TIMEOUT_MS = { edited: 1_500, streamed: 300 };

/** One turn's reply in its thread. It asks for an edit when it has changed, and renders when it gets one: the latest state wins. */
export class LiveReply {
  readonly #work: ThreadWork;
  readonly #turn: TurnLocation;
  readonly #state: ReplyState;
  /** The turn's messages in Slack. */
  readonly posts: IdempotentPosts;
  readonly #messages: ReplyMessages;
  /** Reads the agent's reply for an edit, while one is followed. */
  beforeEdit: () => Promise<void> = async () => undefined;
  /** Withdraws the edits that wait for a permit. */
  #pendingEdits = new AbortController();
  /** Ends the wait for a turn to render. */
  #hurry: AbortSignal;
  /** After its live changes come its final text and then, apart from that, the final form of each message. */
  #stage: 'unopened' | 'live' | 'final_text' | 'final_form' | 'closed' = 'unopened';
  #unseenSince: number | undefined;
  /** Shows the changes until the reply is final. */
  readonly #changes: Poller;
  /** Shows the changes of what stands apart from the answer. */
  readonly #statusChanges: Poller;
  #failures = 0;
  /** Why Slack has no place for the reply, once that is known. */
  unreachable: SlackError | undefined;

  /** `begunAt`: when the turn began here (`performance.now()`). */
  constructor(work: ThreadWork, turn: TurnLocation, state: ReplyState, begunAt: number | undefined) {
    this.#work = work;
    this.#hurry = anySignal([work.lease.signal, this.#pendingEdits.signal]);
    this.#turn = turn;
    this.#state = state;
    this.posts = new IdempotentPosts(work, turn, begunAt);
    this.#messages = new ReplyMessages(work, turn, state, this.posts);
    const onError = (err: unknown) => work.deps.log.error({ err, turn: turn.id }, 'the live reply stopped');
    const poller = (show: () => Promise<unknown>) =>
      new Poller({ poll: () => this.#showChanges(show), onError });
    this.#changes = poller(() => this.#showLatest());
    this.#statusChanges = poller(() => this.#edit(STATUS_PART));
  }

  /** Posts the first message, or finds an earlier process's, which the caller records (`posts.recordWith`); then shows every change. */
  async open(): Promise<void> {
    if (this.#stage !== 'unopened') return;
    await this.#messages.load();
    const [first] = this.#messages.planned();
    // It keeps its first name where an earlier attempt could not set the text apart.
    const isThere = first === undefined || this.posts.has(first.part) || this.posts.has(replyPart(0));
    if (!isThere) await this.#messages.post(first.part, 'first');
    await this.#messages.setApart();
    this.#stage = 'live';
    if (this.#unseenSince !== undefined) this.onChanged();
  }

  onChanged(): void {
    this.#unseenSince ??= Date.now();
    if (this.#stage === 'unopened') return;
    this.#changes.pollNow();
    if (this.#state.isApart) this.#statusChanges.pollNow();
  }

  /** Shows the final text, in new messages where no edit is available; returns when people can read it. */
  async showFinalText(): Promise<void> {
    // A live edit that still waits gives way to the final ones.
    await this.#endChanges('final_text');
    if (this.#stage !== 'closed') this.#pendingEdits = new AbortController();
    this.#hurry = anySignal([this.#work.lease.signal, this.#pendingEdits.signal]);
    this.#unseenSince ??= Date.now();
    await this.#withRetry(() => this.#messages.endApart());
    await this.#withRetry(() => this.#showWholeText());
    const overflow = this.#state.overflow();
    const files = new ThreadFiles(this.#work, this.#turn);
    if (overflow !== undefined && !(await this.#withRetry(() => files.attach('rest', overflow)))) {
      this.#state.update({ maxMessages: Number.POSITIVE_INFINITY });
      await this.#withRetry(() => this.#showWholeText());
    }
    await this.#render();
    const tables = this.#state.largeTables();
    if (!(await this.#withRetry(() => files.attachTables(tables)))) {
      this.#state.update({ wholeTables: true });
      await this.#withRetry(() => this.#showWholeText());
    }
  }

  /** Removes the progress from the messages, and deletes the messages that were replaced. */
  async finalize(): Promise<void> {
    this.#stage = 'final_form';
    const finalize = async () => {
      await this.#showLatest();
      // The final text may take fewer messages than the draft.
      await this.#messages.removeExtra(await this.#render());
    };
    try {
      await this.#withRetry(finalize);
    } catch (error) {
      // The next message must not wait for it.
      if (!(error instanceof ThreadGivenUp || error instanceof PayloadRefusedError)) throw error;
      this.#work.deps.log.warn({ err: error, turn: this.#turn.id }, 'the reply keeps its progress line');
    }
  }

  /** Stops showing changes; the messages stay in the thread. */
  close(): Promise<void> {
    return this.#endChanges('closed');
  }

  /** Closes it, and records what an unfinished turn shows. */
  async suspend(): Promise<void> {
    await this.close();
    await this.posts.record();
    await this.posts.withdrawIntent();
  }

  /** Deletes the reply from the thread: its message was withdrawn before it was sent. */
  async remove(): Promise<void> {
    await this.suspend();
    await this.#messages.removeExtra([]);
  }

  async #endChanges(stage: 'final_text' | 'closed'): Promise<void> {
    if (this.#stage !== 'closed') this.#stage = stage;
    this.#pendingEdits.abort(NO_LONGER_NEEDED);
    await Promise.all([this.#changes.stop(), this.#statusChanges.stop()]);
  }

  get #isShowingFinalText(): boolean {
    return this.#stage === 'final_text';
  }

  get #isFinal(): boolean {
    return this.#isShowingFinalText || this.#stage === 'final_form';
  }

  get #isLive(): boolean {
    return this.#stage === 'live' && !this.#work.lease.signal.aborted;
  }

  async #showChanges(show: () => Promise<unknown>): Promise<void> {
    if (!this.#isLive || this.unreachable !== undefined) return;
    try {
      await show();
      this.#failures = 0;
    } catch (error) {
      if (!this.#isLive) return;
      if (isThreadUnreachable(error)) {
        this.unreachable = error;
        return;
      }
      const { log } = this.#work.deps;
      log.warn({ err: error, turn: this.#turn.id }, 'the live reply could not be shown; trying again');
      this.#failures += 1;
      this.onChanged();
      const pauseMs = Math.max(transientFailure(error)?.waitMs ?? 0, backoffMs(this.#failures));
      await sleepUnlessAborted(pauseMs, this.#hurry);
    }
  }
  /** Brings the thread up to date message by message, so that people never read past a gap. */
  async #showLatest(): Promise<void> {
    while (!this.#isShowingFinalText) {
      this.#unseenSince ??= Date.now();
      // The rendered messages are freed before the wait for an edit.
      const outdated = (await this.#render()).find((one) => !this.#messages.isUpToDate(one))?.part;
      // The reply may have become final meanwhile: its edits are not ours to wait for.
      if (this.#isShowingFinalText) return;
      if (outdated === undefined) {
        this.#unseenSince = undefined;
        this.#state.discardRendered();
        return;
      }
      if (this.posts.has(outdated)) await this.#editOrReplace(outdated);
      else await this.#messages.post(outdated, 'final');
    }
  }

  /** Shows the whole text, and the last message in its final form, without a long wait for edits. */
  async #showWholeText(): Promise<void> {
    const maxWaitMs = FINAL_EDIT_TIMEOUT_MS[this.#messages.mayStream ? 'streamed' : 'edited'];
    let mayWait = true;
    for (;;) {
      const all = await this.#render();
      const outdated = all.find((one) => {
        if (this.#messages.isUpToDate(one)) return false;
        return !this.#messages.isReadable(one) || (mayWait && one === all.at(-1));
      });
      if (outdated === undefined) return;
      if (!this.posts.has(outdated.part)) await this.#messages.post(outdated.part, 'final');
      else if ((await this.#editOrReplace(outdated.part, maxWaitMs)) === 'left_out') {
        if (this.#messages.isReadable(outdated)) mayWait = false;
        else await this.#continueBelow(outdated);
      }
    }
  }

  /** No edit is available for the missing text: it is posted below what the thread shows. */
  async #continueBelow({ part, message: { source } }: PlannedMessage): Promise<void> {
    const from = source?.from ?? 0;
    const displayedUpTo = this.#messages.displayedUpTo(part, from);
    if (displayedUpTo === 'unknown') {
      // An earlier process showed it; only an edit makes sure.
      await this.#edit(part);
      return;
    }
    const upTo = displayedUpTo === 'changed' || source?.reopened === true ? from : displayedUpTo;
    const find = () => this.#state.breakPoint(from, upTo);
    const at = await this.#work.deps.rendering.run(this.#turn.workspace, find, this.#hurry);
    if (at <= from) return this.#messages.markReplaced(part);
    const breaks = [...this.#state.known.breaks, at].sort((a, b) => a - b);
    await this.#work.deps.store.turns.record(this.#turn, { split_offsets: breaks });
    this.#state.update({ breaks });
  }

  /** Edits a message; the final text of one that Slack keeps failing to change is posted in its place. */
  #editOrReplace(part: string, maxWaitMs?: number): Promise<'shown' | 'left_out'> {
    return this.#edit(part, maxWaitMs).catch(async (error: unknown): Promise<'shown'> => {
      if (!this.#isFinal || !(error instanceof PayloadRefusedError)) throw error;
      await this.#messages.markReplaced(part);
      return 'shown';
    });
  }

  /** Edits a message; the status comes after all text. */
  async #edit(part: string, maxWaitMs?: number): Promise<'shown' | 'left_out'> {
    const isStatus = part === STATUS_PART;
    if (!isStatus) this.#state.discardRendered();
    const onPermit = async () => {
      if (!isStatus && !this.#isFinal) await this.beforeEdit();
      if (!isStatus) this.#unseenSince = undefined;
      await this.#render();
    };
    return this.#messages.edit(part, onPermit, {
      maxWaitMs,
      signal: this.#pendingEdits.signal,
      state: () => ({
        isFinal: !isStatus && this.#isShowingFinalText,
        isBlank: this.#state.known.blocks.length === 0,
        unseenSinceMs: (isStatus ? undefined : this.#unseenSince) ?? Date.now(),
      }),
    });
  }

  /** The reply's messages now, rendered without holding up the process. */
  async #render(): Promise<PlannedMessage[]> {
    const next = () => this.#state.renderNext();
    await this.#work.deps.rendering.runAll(this.#turn.workspace, next, this.#hurry);
    return this.#messages.planned();
  }

  async #withRetry<T>(step: () => Promise<T>): Promise<T> {
    const about = { turn: this.#turn.id, step: 'showing the final reply' };
    return withRetry(this.#work, step, { about, judge: slackPatience(this.#work) });
  }
}
