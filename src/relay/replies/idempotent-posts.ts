import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { assertLeaseHeld, MessageGoneError, SlackError } from '../../slack/errors.ts';
import type { EditRequest, PostKind, PostRequest } from '../../slack/posting.ts';
import type { Post, TurnLocation } from '../../store/schema.ts';
import { intendedPost, nextPostKey, type PostOutcome, replyPart } from '../../store/threads/posts.ts';
import { isThreadUnreachable } from '../runtime/turn-interruptions.ts';
import { INTENT_MAX_AGE_MS } from '../runtime/unknown-outcome.ts';
import {
  asRendered,
  type MessageForm,
  messageDigest,
  SlackFaults,
  sendInAcceptedForm,
} from './fallback-forms.ts';
import { findUnknownPost, type PostWork, showsText } from './unknown-post.ts';

/** How an edit waits for its permit, and what it shows then. */
export interface PartEdit extends Pick<EditRequest, 'state' | 'signal' | 'maxWaitMs'> {
  forms: readonly MessageForm[];
  /** Renders the message once the edit may be sent; undefined: nothing to show. */
  render: () => Promise<RenderedMessage | undefined>;
  /** Slack shows this message now. */
  onShown?: (message: RenderedMessage) => void;
}

/** What identifies a post, and what happens before it is sent. */
export type PostIdentity = Omit<PostRequest, 'message' | 'kind'>;

/**
 * A turn's messages in Slack, each known by its part. A post's intent is recorded before the call. Where the outcome is
 * unknown, the thread is searched once the call has surely ended, and the part is posted only if it is not there.
 */
export class IdempotentPosts {
  readonly #work: PostWork;
  readonly #turn: TurnLocation;
  #posts = new Map<string, Post>();
  #isLoaded: boolean;
  /** The parts whose digest the store has. An edit erases it first: until the next record, nobody can be sure. */
  readonly #partsWithDigest = new Set<string>();
  /** Posted, and not yet recorded. */
  #unrecorded = new Set<string>();
  /** When the intent of the first reply was recorded, if no call was made for it. */
  #begunAt: number | undefined;
  #withdrawal: Promise<void> | undefined;
  readonly #faults: SlackFaults;

  /** `begunAt`: when the turn began (`performance.now()`), with the intent to post its first reply and no other post. */
  constructor(work: PostWork, turn: TurnLocation, begunAt?: number) {
    this.#work = work;
    this.#turn = turn;
    this.#faults = new SlackFaults(work.workspace);
    this.#isLoaded = begunAt !== undefined;
    this.#begunAt = begunAt;
    if (begunAt !== undefined)
      setTimeout(() => void this.withdrawIntent().catch(() => undefined), INTENT_MAX_AGE_MS).unref();
  }

  /** Reads what earlier processes recorded. */
  async load(): Promise<void> {
    if (this.#isLoaded) return;
    this.#posts = await this.#work.deps.store.posts.ofTurn(this.#turn);
    for (const { part, content_hash } of this.#posts.values())
      if (content_hash !== null) this.#partsWithDigest.add(part);
    this.#isLoaded = true;
  }

  /**
   * Records a step together with the posts that are not recorded yet and, with `digests`, what each part shows. Without,
   * parts are left to be edited.
   */
  async recordWith<T>(step: (posts: readonly PostOutcome[]) => Promise<T>, digests = false): Promise<T> {
    const posts = [...this.#posts.values()].flatMap(({ part, state, ts, content_hash: hash }) => {
      const isOutdated = digests && hash !== null && !this.#partsWithDigest.has(part);
      if (state !== 'posted' || ts === null || !(isOutdated || this.#unrecorded.has(part))) return [];
      return [{ part, ts, content_hash: digests ? hash : null }];
    });
    const result = await step(posts);
    for (const { part, content_hash } of posts) {
      this.#unrecorded.delete(part);
      if (content_hash !== null) this.#partsWithDigest.add(part);
    }
    return result;
  }

  /** A part that is in Slack; known once the posts are loaded. */
  find(part: string): (Post & { ts: string }) | undefined {
    const post = this.#posts.get(part);
    return post?.state === 'posted' && post.ts !== null ? { ...post, ts: post.ts } : undefined;
  }

  /** Whether a part is in Slack. */
  has(part: string): boolean {
    return this.find(part) !== undefined;
  }

  /** Whether a part shows this message already. */
  shows(part: string, message: RenderedMessage): boolean {
    const post = this.#posts.get(part);
    return post?.state === 'posted' && post.content_hash === messageDigest(message);
  }

  /** Posts a notice once. */
  async postNotice(part: string, text: string): Promise<void> {
    await this.post(part, { text, blocks: [] }, 'notice');
  }

  /** Posts a part once, in the first of these forms that Slack accepts. */
  async post(
    part: string,
    message: RenderedMessage,
    kind: PostKind,
    forms: readonly MessageForm[] = [asRendered],
  ): Promise<void> {
    await this.postUnrecorded(part, message, kind, forms);
    await this.record();
  }

  /** Records the posts that are not recorded yet. */
  async record(): Promise<void> {
    await this.recordWith((posts) => this.#work.deps.store.posts.record(this.#turn, posts), true);
  }

  /** Like `post`, but the next `recordWith` records that it was posted. */
  async postUnrecorded(
    part: string,
    message: RenderedMessage,
    kind: PostKind,
    forms: readonly MessageForm[],
  ): Promise<void> {
    await this.load();
    await this.#sendInAcceptedForm(
      part,
      forms,
      () => message,
      (form) =>
        this.postOnce(part, messageDigest(message), (identity) =>
          this.#work.workspace.posting.post({ ...identity, message: form(message), kind }),
        ),
    );
  }

  /** Posts a part, or brings it up to date, in the first of these forms that Slack accepts. */
  async put(
    part: string,
    message: RenderedMessage,
    kind: PostKind,
    forms: readonly MessageForm[],
  ): Promise<void> {
    await this.post(part, message, kind, forms);
    await this.update(part, message, forms);
    // An edit may find that the message is gone.
    await this.post(part, message, kind, forms);
  }

  /** Brings a part up to date, in the first of these forms that Slack accepts, if it is there. Throws a SlackError. */
  async update(part: string, message: RenderedMessage, forms: readonly MessageForm[]): Promise<void> {
    const state = { isFinal: true, isBlank: false, unseenSinceMs: Date.now() };
    const { signal } = this.#work.lease;
    await this.edit(part, { state: () => state, signal, forms, render: async () => message });
  }

  /** Edits a part when the budget allows it; one that is gone is left for a new post. Throws a SlackError. */
  async edit(part: string, { forms, render, onShown, ...wait }: PartEdit): Promise<'shown' | 'left_out'> {
    const post = this.find(part);
    if (post === undefined) return 'shown';
    let shown: RenderedMessage | undefined;
    const edit = (form: MessageForm) =>
      this.#work.workspace.posting.edit({
        ...wait,
        channel: this.#turn.channel,
        ts: post.ts,
        guard: this.#work.lease,
        key: post.is_stream ? post.dedupe_key : undefined,
        render: async () => {
          // A message that was rendered for a throttled attempt is not shown.
          shown = undefined;
          const message = await render();
          if (message === undefined || this.shows(part, message)) return undefined;
          // Until the edit is known to have succeeded, nobody knows what the part shows.
          await this.#eraseDigest(part);
          shown = message;
          return form(message);
        },
      });
    try {
      if ((await this.#sendInAcceptedForm(part, forms, () => shown, edit)) === 'left_out') return 'left_out';
    } catch (error) {
      if (!(error instanceof MessageGoneError) || isThreadUnreachable(error)) throw error;
      await this.#markGone(part);
      return 'shown';
    }
    if (shown !== undefined) {
      onShown?.(shown);
      this.#changePost(part, { content_hash: messageDigest(shown) });
    }
    return 'shown';
  }

  /** Whether Slack shows this message although it failed to answer an edit. Throws a SlackError. */
  async wasEdited(part: string, message: RenderedMessage): Promise<boolean> {
    const post = this.find(part);
    if (post === undefined || !(await showsText(this.#work, post, message.text))) return false;
    this.#changePost(part, { content_hash: messageDigest(message) });
    return true;
  }

  /** Posts a part once, as `send` does it; false if that sends nothing. The next `recordWith` records it. */
  async postOnce(
    part: string,
    digest: string | null,
    send: (identity: PostIdentity) => Promise<{ ts: string } | undefined>,
    isStream = false,
  ): Promise<boolean> {
    if (this.has(part)) return true;
    if (await this.#resolveUnknownPost(part)) return true;
    const { channel, thread_ts } = this.#turn;
    const key = nextPostKey(this.#turn, part, this.#posts);
    try {
      const sent = await send({
        channel,
        threadTs: thread_ts,
        key,
        // From this moment on, the outcome is unknown until Slack has answered.
        beforeSend: async () => {
          // Nothing may be recorded after a wait for the permit that outlived the lease.
          assertLeaseHeld('chat.postMessage', this.#work.lease);
          const intended = this.#takeIntent(part, key);
          await this.#withdrawal;
          const { posts } = this.#work.deps.store;
          this.#posts.set(part, intended ?? (await posts.intend(this.#turn, part, key, isStream)));
        },
        guard: this.#work.lease,
        signal: this.#work.lease.signal,
      });
      if (sent === undefined) await this.#deleteIntent(part);
      else this.#setPosted(part, sent.ts, digest);
      return sent !== undefined;
    } catch (error) {
      // After the lease has ended, the record may belong to the process that now holds the turn.
      if (error instanceof SlackError && error.outcome === 'none' && this.#work.lease.remainingMs() > 0)
        await this.#deleteIntent(part);
      throw error;
    }
  }

  async #deleteIntent(part: string): Promise<void> {
    if (this.#posts.get(part)?.state !== 'intended') return;
    await this.#work.deps.store.posts.delete(this.#turn, part);
    this.#posts.delete(part);
  }

  /** The intent that was recorded with the turn, if the call leaves soon after it. */
  #takeIntent(part: string, key: string): Post | undefined {
    if (this.#begunAt === undefined || part !== replyPart(0)) return undefined;
    const isRecent = performance.now() - this.#begunAt <= INTENT_MAX_AGE_MS;
    this.#begunAt = undefined;
    return isRecent ? intendedPost(this.#turn, part, key) : undefined;
  }

  /**
   * Withdraws the intent that was recorded with the turn, if no call was made for it: another process need not look. That
   * of a post that waits for its permit is withdrawn, too.
   */
  async withdrawIntent(): Promise<void> {
    if (this.#begunAt !== undefined && this.#work.lease.remainingMs() > 0) {
      this.#begunAt = undefined;
      // One that fails is not repeated: the intent of the next call takes its place.
      this.#withdrawal = this.#work.deps.store.posts.delete(this.#turn, replyPart(0)).finally(() => {
        this.#withdrawal = undefined;
      });
    }
    await this.#withdrawal;
  }

  /** Gives a part's message another name: the part is posted again. */
  async rename(part: string, name: string): Promise<void> {
    const post = this.#posts.get(part);
    if (post === undefined) return;
    await this.record();
    await this.#work.deps.store.posts.renamePart(this.#turn, part, name);
    this.#posts.delete(part);
    this.#posts.set(name, { ...post, part: name });
    if (this.#partsWithDigest.delete(part)) this.#partsWithDigest.add(name);
  }

  /** Deletes the parts with this prefix, except those to keep. */
  async removeAll(prefix: string, keep: ReadonlySet<string> = new Set()): Promise<void> {
    for (const [part, post] of this.#posts) {
      if (!part.startsWith(prefix) || keep.has(part) || post.state !== 'posted' || post.ts === null) continue;
      await this.#work.workspace.posting.delete({
        channel: post.channel,
        ts: post.ts,
        guard: this.#work.lease,
      });
      await this.#markGone(part);
    }
  }

  async #sendInAcceptedForm<T>(
    part: string,
    forms: readonly MessageForm[],
    message: () => RenderedMessage | undefined,
    send: (form: MessageForm) => Promise<T>,
  ): Promise<T> {
    const { log, onBlockRefused } = this.#work.deps;
    const sendOrRefuse = (form: MessageForm) => this.#faults.run(part, () => send(form));
    return sendInAcceptedForm(this.#work.workspace, forms, message, sendOrRefuse, {
      onRefused: (error) =>
        log.error(
          { err: error, turn: this.#turn.id, part },
          'Slack refused the blocks; sending simpler ones',
        ),
      onBlockRefused,
    });
  }

  async #eraseDigest(part: string): Promise<void> {
    this.#changePost(part, { content_hash: null });
    if (!this.#partsWithDigest.has(part)) return;
    await this.#work.deps.store.posts.setState(this.#turn, part, { state: 'posted', content_hash: null });
    this.#partsWithDigest.delete(part);
  }

  #changePost(part: string, change: Partial<Post>): void {
    const post = this.#posts.get(part);
    if (post !== undefined) this.#posts.set(part, { ...post, ...change });
  }

  /** Slack no longer has the part, or no longer lets us edit it: it is posted again. */
  async #markGone(part: string): Promise<void> {
    await this.#work.deps.store.posts.setState(this.#turn, part, { state: 'gone' });
    this.#changePost(part, { state: 'gone' });
  }

  /** Looks up a post whose outcome is unknown; true if it is in the thread. */
  async #resolveUnknownPost(part: string): Promise<boolean> {
    const post = this.#posts.get(part);
    if (post?.state !== 'intended') return false;
    const known = new Set([...this.#posts.values()].flatMap(({ ts }) => ts ?? []));
    const found = await findUnknownPost(this.#work, post, known);
    if (found === undefined) return false;
    this.#setPosted(part, found.ts, null);
    return true;
  }

  #setPosted(part: string, ts: string, digest: string | null): void {
    this.#changePost(part, { state: 'posted', ts, content_hash: digest });
    this.#unrecorded.add(part);
  }
}
