import { valueIf } from '../../calls/retries-and-waits.ts';
import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { SlackError } from '../../slack/errors.ts';
import type { MessageStreams, StreamEnd } from '../../slack/message-streams.ts';
import type { Lease } from '../runtime/lease.ts';
import type { IdempotentPosts, PartEdit, PostIdentity } from './idempotent-posts.ts';

/** After this time (ms) a message is edited: Slack ends streams after five minutes, and says so nowhere. */
const STREAM_LIFETIME_MS = 4 * 60_000;

type SlackStreams = Pick<MessageStreams, 'start' | 'append' | 'stop'>;

/** A turn's messages that are streams: text is added to them; once stopped, they can be edited. */
export class ReplyStreams {
  readonly #slack: SlackStreams;
  readonly #lease: Lease;
  readonly #posts: Pick<IdempotentPosts, 'find' | 'sendOnce'>;
  /** By part: the Markdown that a stream shows, and until when (`performance.now()`) Slack surely keeps it open. */
  readonly #open = new Map<string, { markdown: string; until: number }>();
  readonly #stoppedTs = new Set<string>();

  constructor(slack: SlackStreams, lease: Lease, posts: Pick<IdempotentPosts, 'find' | 'sendOnce'>) {
    this.#slack = slack;
    this.#lease = lease;
    this.#posts = posts;
  }

  /** The Markdown that a part shows, if it is an open stream; else undefined. */
  shownBy(part: string): string | undefined {
    return this.#openStreamOf(part)?.markdown;
  }

  /** Posts a part once, as a stream. Returns false if it has no text or no permit, or Slack refuses. Throws a SlackError. */
  async start(part: string, { markdown = '' }: RenderedMessage): Promise<boolean> {
    if (markdown.trim() === '') return false;
    const until = performance.now() + STREAM_LIFETIME_MS;
    const openStream = async (post: PostIdentity) => {
      const started = await this.#slack.start({ ...post, markdown });
      if (started !== undefined) this.#open.set(part, { markdown, until });
      return started;
    };
    const hadNoEffect = (error: unknown) => error instanceof SlackError && error.outcome === 'none';
    return this.#posts.sendOnce(part, openStream, { isStream: true }).catch(valueIf(false, hadNoEffect));
  }

  /** Adds what a part lacks. `left_out`: no permit came. `unchanged`: it lacks nothing, or only an edit can show it. */
  async append(part: string, request: Omit<PartEdit, 'forms'>): Promise<'shown' | 'left_out' | 'unchanged'> {
    const post = this.#posts.find(part);
    const stream = this.#openStreamOf(part);
    if (post === undefined || stream === undefined) return 'unchanged';
    const { channel, ts } = post;
    let markdown = '';
    const renderMissing = async () => {
      markdown = (await request.render())?.markdown ?? '';
      const missing = markdown.startsWith(stream.markdown) ? markdown.slice(stream.markdown.length) : '';
      return missing === '' ? undefined : missing;
    };
    const addition = { ...request, channel, ts, guard: this.#lease, render: renderMissing };
    const outcome = await this.#slack.append(addition);
    if (outcome === 'refused') this.#open.delete(part);
    if (outcome === 'left_out') return outcome;
    if (outcome !== 'shown') return 'unchanged';
    stream.markdown = markdown;
    return 'shown';
  }

  /** Ends a part's stream, if it has one, so that it can be edited. Returns false if no permit came. Throws a SlackError. */
  async stop(part: string, end: StreamEnd = {}): Promise<boolean> {
    const post = this.#posts.find(part);
    if (post?.is_stream !== true || this.#stoppedTs.has(post.ts)) return true;
    const { channel, ts } = post;
    if (!(await this.#slack.stop({ ...end, channel, ts, guard: this.#lease }))) return false;
    this.#open.delete(part);
    this.#stoppedTs.add(ts);
    return true;
  }

  #openStreamOf(part: string): { markdown: string; until: number } | undefined {
    const stream = this.#open.get(part);
    return stream !== undefined && performance.now() < stream.until ? stream : undefined;
  }
}
