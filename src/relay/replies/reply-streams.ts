import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { SlackError } from '../../slack/errors.ts';
import type { MessageStreams } from '../../slack/message-streams.ts';
import type { Lease } from '../runtime/lease.ts';
import type { IdempotentPosts, PartEdit, PostIdentity } from './idempotent-posts.ts';

/** After this time (ms) a message is edited: Slack ends streams after five minutes, and says so nowhere. */
const STREAM_LIFETIME_MS = 4 * 60_000;

type SlackStreams = Pick<MessageStreams, 'start' | 'append' | 'stop'>;

/** The messages of a turn that are streams: text is added to them, and they can be edited once they are stopped. */
export class ReplyStreams {
  readonly #slack: SlackStreams;
  readonly #lease: Lease;
  readonly #posts: Pick<IdempotentPosts, 'find' | 'postOnce'>;
  /** What this process has streamed, by part. */
  readonly #open = new Map<string, { markdown: string; until: number }>();
  readonly #stopped = new Set<string>();

  constructor(slack: SlackStreams, lease: Lease, posts: Pick<IdempotentPosts, 'find' | 'postOnce'>) {
    this.#slack = slack;
    this.#lease = lease;
    this.#posts = posts;
  }

  /** The Markdown that a part shows to which more can be added. */
  shownBy(part: string): string | undefined {
    return this.#streamOf(part)?.markdown;
  }

  /** Posts a part once as a stream; false without a permit or text, or where Slack refuses it. Throws a SlackError. */
  async start(part: string, { markdown = '' }: RenderedMessage): Promise<boolean> {
    if (markdown.trim() === '') return false;
    const until = performance.now() + STREAM_LIFETIME_MS;
    try {
      const start = async (post: PostIdentity) => {
        const started = await this.#slack.start({ ...post, markdown });
        if (started !== undefined) this.#open.set(part, { markdown, until });
        return started;
      };
      return await this.#posts.postOnce(part, undefined, start, true);
    } catch (error) {
      if (error instanceof SlackError && error.outcome === 'none') return false;
      throw error;
    }
  }

  /** Adds what is missing to a part when the budget allows it; `impossible` if only an edit shows it. */
  async append(part: string, request: Omit<PartEdit, 'forms'>): Promise<'shown' | 'left_out' | 'impossible'> {
    const post = this.#posts.find(part);
    const stream = this.#streamOf(part);
    if (post === undefined || stream === undefined) return 'impossible';
    const { channel, ts } = post;
    let markdown = '';
    const render = async () => {
      markdown = (await request.render())?.markdown ?? '';
      return markdown.startsWith(stream.markdown)
        ? markdown.slice(stream.markdown.length) || undefined
        : undefined;
    };
    const outcome = await this.#slack.append({ ...request, channel, ts, guard: this.#lease, render });
    if (outcome === 'refused') this.#open.delete(part);
    if (outcome === 'left_out') return outcome;
    if (outcome !== 'shown') return 'impossible';
    stream.markdown = markdown;
    return 'shown';
  }

  /** Makes sure that a part is no stream any more; false without a permit within `maxWaitMs`. Throws a SlackError. */
  async stop(part: string, wait: Pick<PartEdit, 'signal' | 'maxWaitMs'> = {}): Promise<boolean> {
    const post = this.#posts.find(part);
    if (post?.is_stream !== true || this.#stopped.has(post.ts)) return true;
    const { channel, ts } = post;
    const request = { ...wait, channel, ts, guard: this.#lease };
    if (!(await this.#slack.stop(request))) return false;
    this.#open.delete(part);
    this.#stopped.add(ts);
    return true;
  }

  /** The stream of a part, while Slack surely keeps it open. */
  #streamOf(part: string): { markdown: string; until: number } | undefined {
    const stream = this.#open.get(part);
    return stream !== undefined && performance.now() < stream.until ? stream : undefined;
  }
}
