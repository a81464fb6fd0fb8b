import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { assertLeaseHeld, MessageGoneError } from '../../slack/errors.ts';
import type { Permit } from '../../slack/permit-queue.ts';
import type { EditRequest, PostKind, PostRequest } from '../../slack/posting.ts';
import type { Post, TurnLocation } from '../../store/schema.ts';
import { intendedPost, nextPostKey, type PostOutcome, replyPart } from '../../store/threads/posts.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { once, waitUntilCallEnded } from '../runtime/unknown-outcome.ts';
import { isThreadUnreachable } from '../runtime/unreachable-threads.ts';
import { asRendered, formSender, type MessageForm, messageDigest } from './fallback-forms.ts';
import { type FirstReply, FirstReplyIntent } from './first-reply-intent.ts';

export type PartWait = Pick<EditRequest, 'state' | 'signal' | 'maxWaitMs'>;

/** An edit of a part, in the first of `forms` that Slack accepts. */
export interface PartEdit extends PartWait, Pick<EditRequest, 'permit'> {
  forms: readonly MessageForm[];
  /** Renders the message once the edit may be sent; undefined: nothing to show. */
  render: () => Promise<RenderedMessage | undefined>;
  onShown?: (message: RenderedMessage) => void;
}

/** `left_out`: no permit came in time. `done`: it shows the latest state, or no edit can show it. */
export type EditOutcome = 'done' | 'left_out';

/** What a post is sent with beside its message. */
export type PostIdentity = Omit<PostRequest, 'message' | 'kind'>;

interface KnownPost extends Post {
  /** The store does not know yet that it was posted. */
  isUnrecorded?: boolean;
  /** The digest of what it shows, in whatever form; undefined if that is not sure: then an edit is sent. */
  shown?: string | undefined;
}

/**
 * A turn's messages in Slack, each known by its part. A post's intent is recorded before the call. After an
 * unknown outcome, the thread is searched once the call has surely ended; what is not there is posted.
 */
export class IdempotentPosts {
  readonly #work: ThreadWork;
  readonly #turn: TurnLocation;
  readonly #sendForm: ReturnType<typeof formSender>;
  readonly #posts = new Map<string, KnownPost>();
  /** Slack has refused the pictures of a message, which shows words in their place. */
  hasLostPictures = false;
  #isLoaded: boolean;
  readonly #firstIntent: FirstReplyIntent | undefined;

  /** `first` is there only if the turn began in this process: then only the intent of its first post is recorded yet. */
  constructor(work: ThreadWork, turn: TurnLocation, first?: FirstReply) {
    this.#work = work;
    this.#turn = turn;
    this.#sendForm = formSender(work, turn, () => {
      this.hasLostPictures = true;
    });
    this.#isLoaded = first !== undefined; // Without earlier posts, there is nothing to load.
    this.#firstIntent = first && new FirstReplyIntent(work, turn, first);
  }

  /** Reads what earlier processes recorded. */
  async load(): Promise<void> {
    if (this.#isLoaded) return;
    for (const [part, post] of await this.#work.deps.store.posts.ofTurn(this.#turn))
      this.#posts.set(part, post);
    this.#isLoaded = true;
  }

  /** Has `step` record the posts that are not recorded yet, along with what else it records. */
  async recordWith<T>(step: (posts: readonly PostOutcome[]) => Promise<T>): Promise<T> {
    const posts = [...this.#posts.values()].flatMap(({ part, ts, isUnrecorded }) =>
      isUnrecorded === true && ts !== null ? [{ part, ts }] : [],
    );
    const result = await step(posts);
    for (const { part } of posts) this.#change(part, { isUnrecorded: false });
    return result;
  }

  /** The post of a part that is in Slack; known once the posts are loaded. */
  find(part: string): (KnownPost & { ts: string }) | undefined {
    const post = this.#posts.get(part);
    return post?.state === 'posted' && post.ts !== null ? { ...post, ts: post.ts } : undefined;
  }

  has(part: string): boolean {
    return this.find(part) !== undefined;
  }

  /** Whether a part's row is known here: the part is, was or may be in Slack. */
  hasRow(part: string): boolean {
    return this.#posts.has(part);
  }

  /** Whether a part surely shows this message. */
  shows(part: string, message: RenderedMessage): boolean {
    return this.find(part)?.shown === messageDigest(message);
  }

  /** Posts a text once. Slack's own failures never count as a refusal: a text has no simpler form. */
  async postNotice(part: string, text: string): Promise<void> {
    const message = { text, blocks: [] };
    const { posting } = this.#work.workspace;
    const send = (identity: PostIdentity) => posting.post({ ...identity, message, kind: 'notice' });
    await this.sendOnce(part, send, { digest: messageDigest(message) });
    await this.record();
  }

  /** Records the posts that are not recorded yet. */
  async record(): Promise<void> {
    await this.recordWith((posts) => this.#work.deps.store.posts.record(this.#turn, posts));
  }

  /** Posts a part once, in the first form that Slack accepts. The turn's next step records a `first` one. */
  async post(
    part: string,
    message: RenderedMessage,
    kind: PostKind,
    forms: readonly MessageForm[] = [asRendered],
  ): Promise<void> {
    const { posting } = this.#work.workspace;
    const digest = messageDigest(message);
    const postAs = (form: MessageForm) => (identity: PostIdentity) =>
      posting.post({ ...identity, message: form(message), kind });
    const send = (form: MessageForm) => this.sendOnce(part, postAs(form), { digest });
    await this.#sendForm(part, forms, () => message, send);
    if (kind !== 'first') await this.record();
  }

  /** Edits a part, in the first form that Slack accepts, however long the edit waits. Throws a SlackError. */
  async update(part: string, message: RenderedMessage, forms: readonly MessageForm[]): Promise<void> {
    const state = { isFinal: true, isBlank: false, unseenSinceMs: Date.now() };
    const { signal } = this.#work.lease;
    await this.edit(part, { state: () => state, signal, forms, render: async () => message });
  }

  /** Waits for a permit for an `edit`, which must follow at once; undefined if none comes in time. */
  permitToEdit(ts: string, wait: PartWait): Promise<Permit | undefined> {
    const { lease: guard, workspace } = this.#work;
    return workspace.posting.permitToEdit({ ...wait, channel: this.#turn.channel, ts, guard });
  }

  /**
   * Edits a part to what `render` gives once there is a permit. A message that Slack keeps, but lets nobody
   * edit any more, is marked as gone, which counts as `done`. Throws a SlackError, also if the message was deleted.
   */
  async edit(part: string, { permit: givenPermit, onShown, ...edit }: PartEdit): Promise<EditOutcome> {
    const post = this.find(part);
    if (post === undefined) {
      givenPermit?.release();
      return 'done';
    }
    const permit = givenPermit ?? (await this.permitToEdit(post.ts, edit));
    if (permit === undefined) return 'left_out';
    let sent: RenderedMessage | 'left_out' | undefined;
    try {
      sent = await this.#sendEdit(post, permit, edit);
    } catch (error) {
      // A deleted message makes the thread unreachable, too: people do not want the reply.
      if (!(error instanceof MessageGoneError) || isThreadUnreachable(error)) throw error;
      await this.#markGone(part);
    }
    if (sent === 'left_out') return 'left_out';
    // Undefined: the part showed the latest state already, or can show it no more.
    if (sent !== undefined) {
      onShown?.(sent);
      this.#change(part, { shown: messageDigest(sent) });
    }
    return 'done';
  }

  /**
   * Edits in the first form that Slack accepts. Returns the message as it was before it took that form;
   * `left_out` if a further permit did not come in time; undefined if the part showed the latest state already.
   */
  async #sendEdit(
    { part, ts, is_stream: isStream, dedupe_key }: KnownPost & { ts: string },
    firstPermit: Permit,
    { forms, render, ...wait }: Omit<PartEdit, 'permit' | 'onShown'>,
  ): Promise<RenderedMessage | 'left_out' | undefined> {
    const { lease: guard, workspace } = this.#work;
    const key = isStream ? dedupe_key : undefined; // A stream was posted without its key, and gets it now.
    const target = { ...wait, channel: this.#turn.channel, ts, guard, key };
    // A permit is for one call: an edit in another form waits for one of its own.
    let permit: Permit | undefined = firstPermit;
    /** What the last attempt has rendered, before its form. An edit that Slack throttles is rendered again. */
    let rendered: RenderedMessage | undefined;
    const renderInForm = async (toForm: MessageForm) => {
      rendered = undefined;
      const latest = await render();
      if (latest === undefined || this.shows(part, latest)) return undefined;
      // Until the edit is known to have succeeded, nobody knows what the part shows.
      this.#change(part, { shown: undefined });
      rendered = latest;
      return toForm(latest);
    };
    const editInForm = (toForm: MessageForm) => {
      const request = { ...target, permit, render: () => renderInForm(toForm) };
      permit = undefined;
      return workspace.posting.edit(request);
    };
    const outcome = await this.#sendForm(part, forms, () => rendered, editInForm);
    return outcome === 'left_out' ? outcome : rendered;
  }

  /**
   * Has `send` post a part, unless it is there. After an unknown outcome, looks for the part first. Returns
   * whether the part is there now: false if `send` posted nothing. `digest` identifies what the post shows; without
   * it, the next edit is sent in any case. The next `recordWith` records the post.
   */
  async sendOnce(
    part: string,
    send: (identity: PostIdentity) => Promise<{ ts: string } | undefined>,
    { digest, isStream = false }: { digest?: string; isStream?: boolean } = {},
  ): Promise<boolean> {
    await this.load();
    if (this.has(part)) return true;
    const { lease } = this.#work;
    const earlier = this.#posts.get(part);
    const { channel, thread_ts: threadTs } = this.#turn;
    const key = nextPostKey(this.#turn, part, this.#posts); // The key of `earlier`, if that is in doubt.
    const beforeSend = async () => {
      // The wait for the permit may have outlived the lease.
      assertLeaseHeld('chat.postMessage', lease);
      // From this moment on, the outcome is unknown until Slack has answered.
      await this.#intend(part, key, isStream);
    };
    // Only a first attempt has this permit, and nothing to look for: its call uses it or gives it back.
    const permit = part === replyPart(0) ? await this.#firstIntent?.takePermit() : undefined;
    const identity = { channel, threadTs, key, beforeSend, guard: lease, signal: lease.signal, permit };
    const look = earlier?.state === 'intended' ? () => this.#lookFor(earlier) : undefined;
    const act = async () => {
      const sent = await send(identity);
      return sent && { ts: sent.ts, shown: digest };
    };
    const posted = await once({ look, act, ifNoEffect: () => this.#deleteIntent(part) }, lease);
    // Of a post that `look` has found, nobody knows what it shows: only `act` sets `shown`.
    if (posted === undefined) await this.#deleteIntent(part);
    else this.#change(part, { state: 'posted', shown: undefined, ...posted, isUnrecorded: true });
    return posted !== undefined;
  }

  /** Records the intent of a call that leaves now, unless the intent that began the turn still counts. */
  async #intend(part: string, key: string, isStream: boolean): Promise<void> {
    const isRecorded = part === replyPart(0) && (await this.#firstIntent?.use()) === true;
    const record = () => this.#work.deps.store.posts.intend(this.#turn, part, key, isStream);
    this.#posts.set(part, isRecorded ? intendedPost(this.#turn, part, key) : await record());
  }

  /** Withdraws the intent to post the first reply, if no call used it. */
  async withdrawIntent(): Promise<void> {
    await this.#firstIntent?.withdraw();
  }

  /** Names a part's message differently, so that the part can be posted again. */
  async rename(part: string, name: string): Promise<void> {
    if (!this.hasRow(part)) return;
    // No process looks for a post under its new name: that it is there must be recorded first.
    await this.record();
    await this.#work.deps.store.posts.renamePart(this.#turn, part, name);
    const post = this.#posts.get(part); // As `record` has left it.
    this.#posts.delete(part);
    if (post !== undefined) this.#posts.set(name, { ...post, part: name });
  }

  /** Deletes from Slack the parts with this prefix, except those to keep. */
  async removeAll(prefix: string, keep: ReadonlySet<string> = new Set()): Promise<void> {
    const { workspace, lease: guard } = this.#work;
    for (const { part, state, channel, ts } of this.#posts.values()) {
      if (!part.startsWith(prefix) || keep.has(part) || state !== 'posted' || ts === null) continue;
      await workspace.posting.delete({ channel, ts, guard });
      await this.#markGone(part);
    }
  }

  #change(part: string, change: Partial<KnownPost>): void {
    const post = this.#posts.get(part);
    if (post !== undefined) this.#posts.set(part, { ...post, ...change });
  }

  /** Forgets a part that was surely not posted. */
  async #deleteIntent(part: string): Promise<void> {
    if (this.#posts.get(part)?.state !== 'intended') return;
    await this.#work.deps.store.posts.delete(this.#turn, part);
    this.#posts.delete(part);
  }

  /** Records that a part was deleted, or can no longer be edited: `sendOnce` would post it again. */
  async #markGone(part: string): Promise<void> {
    await this.#work.deps.store.posts.markGone(this.#turn, part);
    this.#change(part, { state: 'gone', isUnrecorded: false });
  }

  /** Looks for a post whose outcome is unknown, once its call has surely ended. Undefined if it is absent. */
  async #lookFor(post: KnownPost): Promise<{ ts: string } | undefined> {
    const { workspace, lease } = this.#work;
    const { posting, readBack } = workspace;
    const { channel, thread_ts: threadTs, dedupe_key: key, intended_at: intendedAt } = post;
    await waitUntilCallEnded(workspace, intendedAt, lease);
    const knownTs = new Set([...this.#posts.values()].flatMap(({ ts }) => ts ?? []));
    const query = { channel, key, intendedAt, guard: lease, signal: lease.signal };
    // A stream carries no key: it is the post that is not known. None above the turn's first known post is taken,
    // because those are of other turns.
    const inThread = { threadTs, streamsExcept: post.is_stream ? knownTs : undefined };
    return readBack.findOwnPost({ ...query, ...inThread }).catch(async (error: unknown) => {
      // If its thread was deleted before it arrived, the post stands in the channel, where nobody expects it.
      const stray = error instanceof MessageGoneError ? await readBack.findOwnPost(query) : undefined;
      if (stray !== undefined) await posting.delete({ channel, ts: stray.ts, guard: lease });
      throw error;
    });
  }
}
