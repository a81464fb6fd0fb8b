import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { PayloadRefusedError, SlackError, SlackLeaseError } from '../../slack/errors.ts';
import type { PostKind } from '../../slack/posting.ts';
import type { SlackMessage } from '../../slack/slack-message.ts';
import type { Post, TurnLocation } from '../../store/schema.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import type { Lease } from '../runtime/lease.ts';
import { SLACK_CALL_LIFETIME_MS, waitUntilCallEnded } from '../runtime/unknown-outcome.ts';
import { messageDigest } from './reply-blocks.ts';

/**
 * A turn's messages in Slack. The intent is written before the call; a part whose outcome is unknown is looked for in
 * the thread once the call is surely over, and posted only where it is not there.
 */
export class ThreadPosts {
  readonly #deps: RelayDeps;
  readonly #workspace: WorkspaceClient;
  readonly #turn: TurnLocation;
  readonly #lease: Lease;
  #posts = new Map<string, Post>();

  constructor(deps: RelayDeps, workspace: WorkspaceClient, turn: TurnLocation, lease: Lease) {
    this.#deps = deps;
    this.#workspace = workspace;
    this.#turn = turn;
    this.#lease = lease;
  }

  /** Reads what earlier processes recorded. */
  async load(): Promise<void> {
    this.#posts = await this.#deps.store.posts.ofTurn(this.#turn);
  }

  /** Whether a part stands in Slack. */
  has(part: string): boolean {
    return this.tsOf(part) !== undefined;
  }

  tsOf(part: string): string | undefined {
    const post = this.#posts.get(part);
    return post?.state === 'posted' ? (post.ts ?? undefined) : undefined;
  }

  /** Whether a part shows this already. */
  shows(part: string, digest: string): boolean {
    const post = this.#posts.get(part);
    return post?.state === 'posted' && post.digest === digest;
  }

  /** Posts a part once. */
  async post(
    part: string,
    message: RenderedMessage | SlackMessage,
    digest: string,
    kind: PostKind,
  ): Promise<void> {
    if (this.has(part)) return;
    if (await this.#resolveUnknownPost(part)) return;
    const { channel, root } = this.#turn;
    const key = this.#nextKey(part);
    try {
      const { ts } = await this.#workspace.posting.post({
        channel,
        threadTs: root,
        message,
        key,
        kind,
        // Not earlier: from this moment the outcome is unknown until Slack has answered.
        beforeSend: async () => {
          throwIfLeaseEnded(this.#lease);
          this.#posts.set(part, await this.#deps.store.posts.intend(this.#turn, part, key));
        },
        guard: this.#lease,
        signal: this.#lease.signal,
      });
      await this.#recordPosted(part, ts, digest);
    } catch (error) {
      // After the lease the record may be that of the process that holds the turn now.
      if (error instanceof SlackError && error.outcome === 'none' && this.#lease.remainingMs() > 0) {
        await this.#deps.store.posts.delete(this.#turn, part);
        this.#posts.delete(part);
      }
      throw error;
    }
  }

  /** Posts a part once, as it is or, where Slack refuses its blocks, in the first of the `simpler` forms that it takes. */
  async postWithFallbacks(
    part: string,
    message: RenderedMessage,
    simpler: readonly ((message: RenderedMessage) => RenderedMessage)[],
    kind: PostKind,
  ): Promise<void> {
    const left = [...simpler];
    for (let shape = message; ; ) {
      try {
        return await this.post(part, shape, messageDigest(message), kind);
      } catch (error) {
        const form = left.shift();
        if (!(error instanceof PayloadRefusedError) || form === undefined) throw error;
        this.#deps.log.error(
          { err: error, turn: this.#turn.id, part },
          'Slack refused the blocks; showing simpler ones',
        );
        shape = form(message);
      }
    }
  }

  /** A part is about to be edited: until the edit is known to have been made, nobody knows what it shows. */
  async markUnknown(part: string): Promise<void> {
    await this.#setDigest(part, null);
  }

  /** Records what a part shows since an edit. */
  async recordShown(part: string, digest: string): Promise<void> {
    await this.#setDigest(part, digest);
  }

  async #setDigest(part: string, digest: string | null): Promise<void> {
    const post = this.#posts.get(part);
    if (post === undefined || post.digest === digest) return;
    await this.#deps.store.posts.setState(this.#turn, part, { state: 'posted', digest });
    this.#posts.set(part, { ...post, digest });
  }

  /** Slack does not have the part any more, or does not let us edit it: it is posted anew. */
  async markGone(part: string): Promise<void> {
    await this.#deps.store.posts.setState(this.#turn, part, { state: 'gone' });
    const post = this.#posts.get(part);
    if (post !== undefined) this.#posts.set(part, { ...post, state: 'gone' });
  }

  /** Sets a part's message aside: the part is posted anew, and the message is deleted under its new name. */
  async renamePart(part: string, name: string): Promise<void> {
    const post = this.#posts.get(part);
    if (post === undefined) return;
    await this.#deps.store.posts.renamePart(this.#turn, part, name);
    this.#posts.delete(part);
    this.#posts.set(name, { ...post, part: name });
  }

  /** Deletes the parts whose name begins so, but for those to be kept. */
  async removeAll(prefix: string, keep: ReadonlySet<string> = new Set()): Promise<void> {
    for (const [part, post] of this.#posts) {
      if (!part.startsWith(prefix) || keep.has(part) || post.state !== 'posted' || post.ts === null) continue;
      await this.#workspace.posting.delete({ channel: post.channel, ts: post.ts, guard: this.#lease });
      await this.markGone(part);
    }
  }

  /** Finds out what became of a post whose outcome is unknown; true where it stands in the thread. */
  async #resolveUnknownPost(part: string): Promise<boolean> {
    const post = this.#posts.get(part);
    if (post?.state !== 'intended') return false;
    await waitUntilCallEnded(post.intended_at, SLACK_CALL_LIFETIME_MS, this.#lease);
    const found = await this.#workspace.readBack.findOwnPost({
      channel: post.channel,
      threadTs: post.root,
      key: post.key,
      intendedAt: post.intended_at,
      guard: this.#lease,
      signal: this.#lease.signal,
    });
    if (found === undefined) return false;
    await this.#recordPosted(part, found.ts, undefined);
    return true;
  }

  async #recordPosted(part: string, ts: string, digest: string | undefined): Promise<void> {
    const placed = { state: 'posted' as const, ts, ...(digest === undefined ? {} : { digest }) };
    await this.#deps.store.posts.setState(this.#turn, part, placed);
    const post = this.#posts.get(part);
    if (post !== undefined) this.#posts.set(part, { ...post, ...placed });
  }

  /** A part that Slack lost, or that was set aside, is another post: its key must not find the old one. */
  #nextKey(part: string): string {
    const before = this.#posts.get(part);
    if (before !== undefined) return before.state === 'gone' ? `${before.key}+` : before.key;
    const first = `${this.#turn.id}/${part}`;
    const used = [...this.#posts.values()].filter(({ key }) => key.replace(/\++$/, '') === first);
    return first + '+'.repeat(used.length);
  }
}

/** Waiting for the lane may have outlived the lease: nothing may be recorded then. */
function throwIfLeaseEnded(lease: Lease): void {
  if (lease.remainingMs() <= 0) throw new SlackLeaseError({ method: 'chat.postMessage', outcome: 'none' });
}
