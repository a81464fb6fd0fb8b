import { NO_LONGER_NEEDED, sleepUnlessAborted } from '../../calls/retries-and-waits.ts';
import { PayloadRefusedError, type SlackError } from '../../slack/errors.ts';
import type { ChangeWait } from '../../slack/live-edits.ts';
import type { TurnLocation } from '../../store/schema.ts';
import { replyPart } from '../../store/threads/posts.ts';
import { turnLocationOf } from '../../store/threads/turns.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { Poller } from '../runtime/poller.ts';
import { backoffMs, transientFailure, withRetry } from '../runtime/retry-and-giving-up.ts';
import type { TurnRow } from '../runtime/turn-row.ts';
import { isThreadUnreachable, ThreadGivenUp } from '../runtime/unreachable-threads.ts';
import type { FirstReply } from './first-reply-intent.ts';
import { type EditOutcome, IdempotentPosts, type PartEdit } from './idempotent-posts.ts';
import { type PlannedMessage, ReplyMessages, STATUS_PART } from './reply-messages.ts';
import type { ReplyState } from './reply-state.ts';
import { ThreadFiles } from './thread-files.ts';

/** A final edit without a permit within this time (ms) is left out: the text continues in a new message. */
const FINAL_EDIT_TIMEOUT_MS = { edited: 1_500, streamed: 300 };
/** A message of an earlier process without an edit within this time (ms) is posted again. */
const UNKNOWN_EDIT_TIMEOUT_MS = 10_000;

type TurnWork = ThreadWork & { readonly row: TurnRow };

/** A turn's reply in its thread. When it changes it asks for an edit, and then renders the latest state. */
export class LiveReply {
  readonly #work: TurnWork;
  readonly #turn: TurnLocation;
  readonly #state: ReplyState;
  readonly posts: IdempotentPosts;
  readonly #messages: ReplyMessages;
  /** Called before an edit is rendered: reads the agent's reply once more while it is followed. */
  beforeEdit: () => Promise<void> = async () => undefined;
  /** The waits for permits to edit, and for a turn to render: aborted once these edits are not needed any more. */
  #waits = new AbortController();
  /** At first every change is shown, then the final text at once, then the final form of each message. */
  #stage: 'unopened' | 'live' | 'final_text' | 'final_form' | 'closed' = 'unopened';
  /** Since when (as `Date.now()`) there has been something that people cannot read yet. */
  #unseenSince: number | undefined;
  readonly #textPoller = this.#poller(() => this.#showLatest());
  /** Shows the changes of the status, while it is a message apart from the answer. */
  #statusPoller: Poller | undefined;
  /** Failures in a row to show text or status: the pause after each is longer. */
  #failures = 0;
  /** Why Slack has no place for the reply, once that is known. */
  unreachable: SlackError | undefined;

  /** `first` is there only if the turn began in this process. */
  constructor(work: TurnWork, state: ReplyState, first: FirstReply | undefined) {
    this.#work = work;
    const turn = turnLocationOf(work.row.turn);
    this.#turn = turn;
    this.#state = state;
    this.posts = new IdempotentPosts(work, turn, first);
    this.#messages = new ReplyMessages(work, turn, state, this.posts);
  }

  /** Posts the first message, unless it is there; the turn's next step records it. From then on changes are shown. */
  async open(): Promise<void> {
    if (this.#stage !== 'unopened') return;
    await this.#messages.load();
    const [first] = this.#messages.planned();
    // If an earlier call failed between the post and its renaming to the status, it still has its first name.
    const isPosted = first === undefined || this.posts.has(first.part) || this.posts.has(replyPart(0));
    if (!isPosted) await this.#messages.post(first.part, 'first');
    await this.#messages.renameFirstToStatus();
    this.#stage = 'live';
    // Something changed before there was a message to edit.
    if (this.#unseenSince !== undefined) this.onChanged();
  }

  /** Shows what has changed, as soon as Slack allows it. */
  onChanged(): void {
    this.#unseenSince ??= Date.now();
    if (this.#stage === 'unopened') return;
    this.#textPoller.pollNow();
    if (!this.#state.isApart) return;
    this.#statusPoller ??= this.#poller(async () => {
      if (!this.#messages.isStatusShown()) await this.#edit(STATUS_PART);
    });
    this.#statusPoller.pollNow();
  }

  /** Makes a poller that calls `show` on request, while the reply is live and Slack has a place for it. */
  #poller(show: () => Promise<unknown>): Poller {
    const poll = async () => {
      if (!this.#isLive || this.unreachable !== undefined) return;
      await show();
      this.#failures = 0;
    };
    return new Poller({ poll, onError: (error) => this.#onFailed(error) });
  }

  /** Shows the final text, in new messages where no edit is available; returns when people can read it. */
  async showFinalText(): Promise<void> {
    // The final edits have a signal of their own, unless the reply is closed.
    await this.#endLiveEdits('final_text');
    if (this.#stage !== 'closed') this.#waits = new AbortController();
    this.#unseenSince ??= Date.now();
    await this.#withRetry(() => this.#messages.reuseStatusWithoutText());
    await this.#withRetry(() => this.#showWholeText());
    // If Slack does not take a file, messages show what it would hold.
    const overflow = this.#state.overflow();
    const files = new ThreadFiles(this.#work, this.#turn);
    if (overflow !== undefined && !(await this.#withRetry(() => files.attach('rest', overflow)))) {
      this.#state.update({ maxMessages: Number.POSITIVE_INFINITY });
      await this.#withRetry(() => this.#showWholeText());
    }
    const tables = this.#state.largeTables();
    if (!(await this.#withRetry(() => files.attachTables(tables)))) {
      this.#state.update({ wholeTables: true });
      await this.#withRetry(() => this.#showWholeText());
    }
  }

  /** Removes progress from messages, and deletes replaced ones. If Slack keeps refusing, both may stay. */
  async finalize(): Promise<void> {
    this.#stage = 'final_form';
    const showFinalForm = async () => {
      await this.#showLatest();
      // The final text may need fewer messages than were posted before.
      await this.#messages.removeExtra(await this.#render());
    };
    try {
      await this.#withRetry(showFinalForm);
    } catch (error) {
      // The thread's next message must not wait until Slack takes these edits.
      if (!(error instanceof ThreadGivenUp || error instanceof PayloadRefusedError)) throw error;
      this.#work.deps.log.warn({ err: error, turn: this.#turn.id }, 'the reply keeps its progress line');
    }
  }

  /** Stops showing changes; the messages stay in the thread. */
  close(): Promise<void> {
    return this.#endLiveEdits('closed');
  }

  /** Closes the reply, and records its posts: another process may go on with an unfinished turn. */
  async suspend(): Promise<void> {
    await this.close();
    await this.posts.record();
    await this.posts.withdrawIntent();
  }

  /** Deletes the reply from the thread: the message that it was to answer was deleted unsent, or waits again. */
  async remove(): Promise<void> {
    await this.suspend();
    await this.#messages.removeExtra([]);
  }

  /** Ends the edits that show changes: one that waits is withdrawn, one that is under way is awaited. */
  async #endLiveEdits(stage: 'final_text' | 'closed'): Promise<void> {
    if (this.#stage !== 'closed') this.#stage = stage;
    this.#waits.abort(NO_LONGER_NEEDED);
    await Promise.all([this.#textPoller.stop(), this.#statusPoller?.stop()]);
  }

  get #isFinal(): boolean {
    return this.#stage === 'final_text' || this.#stage === 'final_form';
  }

  /** Whether `#showLatest` may go on: not while `showFinalText` makes the edits, nor after `close`. */
  get #mayShowLatest(): boolean {
    return this.#stage === 'live' || this.#stage === 'final_form';
  }

  get #isLive(): boolean {
    return this.#stage === 'live' && !this.#work.lease.signal.aborted;
  }

  /** Tries again after a pause that grows, while the reply is live and Slack has a place for it. */
  async #onFailed(error: unknown): Promise<void> {
    if (!this.#isLive) return;
    if (isThreadUnreachable(error)) {
      this.unreachable = error;
      return;
    }
    const { log } = this.#work.deps;
    log.warn({ err: error, turn: this.#turn.id }, 'the live reply could not be shown; trying again');
    this.#failures += 1;
    this.#unseenSince ??= Date.now();
    const pauseMs = Math.max(transientFailure(error)?.waitMs ?? 0, backoffMs(this.#failures));
    await sleepUnlessAborted(pauseMs, this.#waits.signal);
    this.onChanged();
  }

  /**
   * Brings outdated messages up to date, in order: people never read past a gap. Ends once none is outdated, or
   * once `showFinalText` or `close` is called. An edit that still waits then throws.
   */
  async #showLatest(): Promise<void> {
    while (this.#mayShowLatest) {
      // Set anew for each message, because an edit resets it: what that edit missed counts as unseen from now on.
      this.#unseenSince ??= Date.now();
      // Only the part's name is kept: the rendered messages are freed before the wait for an edit.
      const outdated = (await this.#render()).find((next) => !this.#messages.isUpToDate(next))?.part;
      if (!this.#mayShowLatest) return;
      if (outdated === undefined) {
        this.#unseenSince = undefined;
        this.#state.discardRendered();
        return;
      }
      const post = this.posts.find(outdated);
      if (post === undefined) await this.#messages.post(outdated, 'further');
      else {
        this.#state.discardRendered();
        // Thousands may wait here at once, and hold no more than this. A stream's edit waits in its own call.
        const wait = this.#permitWait(outdated);
        const permit = post.is_stream ? undefined : await this.posts.permitToEdit(post.ts, wait);
        await this.#editOrReplace(outdated, { permit });
      }
      // `#poller` resets `#failures`, too, but only after the poll, which may go on for as long as the answer grows.
      this.#failures = 0;
    }
  }

  /**
   * Shows the whole text without a long wait for edits: where none is available, the text goes on in a new
   * message. Also tries once to give the last message its final form, which `finalize` would do later.
   */
  async #showWholeText(): Promise<void> {
    const maxWaitMs = FINAL_EDIT_TIMEOUT_MS[this.#messages.mayStream ? 'streamed' : 'edited'];
    let mayEditLast = true;
    for (;;) {
      const all = await this.#render();
      const outdated = all.find((next) => {
        if (this.#messages.isUpToDate(next)) return false;
        return !this.#messages.isReadable(next) || (mayEditLast && next === all.at(-1));
      });
      if (outdated === undefined) return;
      if (!this.posts.has(outdated.part)) await this.#messages.post(outdated.part, 'further');
      else if ((await this.#editOrReplace(outdated.part, { maxWaitMs })) === 'left_out') {
        // A message that people can read is the last one, and its final form can wait for `finalize`.
        if (this.#messages.isReadable(outdated)) mayEditLast = false;
        else await this.#continueBelow(outdated);
      }
    }
  }

  /** Ends a message at what it shows, because no edit is available, so that the rest is posted below it. */
  async #continueBelow({ part, message: { source } }: PlannedMessage): Promise<void> {
    const from = source?.from ?? 0;
    const displayedUpTo = this.#messages.displayedUpTo(part, from);
    if (displayedUpTo === 'unknown') {
      // An earlier process has posted the message: only an edit tells what it shows.
      const edited = await this.#edit(part, { maxWaitMs: UNKNOWN_EDIT_TIMEOUT_MS });
      if (edited === 'left_out') await this.#messages.markReplaced(part);
      return;
    }
    // Changed text is replaced. So is a message that begins inside a block: `breakPoint` cannot start there.
    const upTo = displayedUpTo === 'changed' || source?.reopened === true ? from : displayedUpTo;
    const findBreak = () => this.#state.breakPoint(from, upTo);
    const breakAt = await this.#work.deps.rendering.run(this.#turn.workspace, findBreak, this.#waits.signal);
    // After a lost lease, another process shows the rest.
    this.#work.lease.signal.throwIfAborted();
    if (breakAt <= from) return this.#messages.markReplaced(part);
    const breaks = [...this.#state.known.breaks, breakAt].sort((a, b) => a - b);
    await this.#work.row.record({ split_offsets: breaks });
    this.#state.update({ breaks });
  }

  /** Edits a message. If Slack refuses every form of its final text, it is set aside, to be posted anew. */
  #editOrReplace(part: string, how: Pick<PartEdit, 'maxWaitMs' | 'permit'>): Promise<EditOutcome> {
    return this.#edit(part, how).catch(async (error: unknown): Promise<EditOutcome> => {
      if (!this.#isFinal || !(error instanceof PayloadRefusedError)) throw error;
      await this.#messages.markReplaced(part);
      return 'done';
    });
  }

  /** How an edit waits for its permit. The status counts as changed just now, so that it comes after text. */
  #permitWait(part: string): Pick<ChangeWait, 'signal' | 'state'> {
    const isStatus = part === STATUS_PART;
    return {
      signal: this.#waits.signal,
      state: () => ({
        isFinal: !isStatus && this.#stage === 'final_text',
        isBlank: this.#state.known.blocks.length === 0,
        unseenSinceMs: (isStatus ? undefined : this.#unseenSince) ?? Date.now(),
      }),
    };
  }

  /**
   * Edits a message to its latest state. Once the edit may be sent, an edit of the text reads the reply; then all is
   * rendered into `#state`, where `ReplyMessages.edit` finds the message and its answer. `left_out`: no permit came.
   */
  async #edit(part: string, how: Pick<PartEdit, 'maxWaitMs' | 'permit'> = {}): Promise<EditOutcome> {
    // The status is edited beside the text, and leaves to it what is rendered, read and unseen.
    const isText = part !== STATUS_PART;
    // The wait for a permit may be long: until then the text is not kept in its rendered form.
    if (isText) this.#state.discardRendered();
    const renderState = async () => {
      // Once the reply is final, nothing more of it is to be read.
      if (isText && !this.#isFinal) await this.beforeEdit();
      // What changes from here on may miss this edit, and counts as unseen again.
      if (isText) this.#unseenSince = undefined;
      await this.#render();
    };
    return this.#messages.edit(part, renderState, { ...this.#permitWait(part), ...how });
  }

  /** The reply's messages now, rendered without holding up the process. */
  async #render(): Promise<PlannedMessage[]> {
    const next = () => this.#state.renderNext();
    await this.#work.deps.rendering.runAll(this.#turn.workspace, next, this.#waits.signal);
    return this.#messages.planned();
  }

  async #withRetry<T>(step: () => Promise<T>): Promise<T> {
    return withRetry(this.#work, step, { about: { turn: this.#turn.id, step: 'showing the final reply' } });
  }
}
