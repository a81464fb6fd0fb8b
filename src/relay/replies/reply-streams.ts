import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { SlackError } from '../../slack/errors.ts';
import type { MessageStreams, StreamAppend } from '../../slack/message-streams.ts';
import type { TurnLocation } from '../../store/schema.ts';
import type { Lease } from '../runtime/lease.ts';
import type { IdempotentPosts, PostIdentity } from './idempotent-posts.ts';

/** After this time (ms) a message is edited: Slack ends streams after five minutes, and says so nowhere. */
const STREAM_LIFETIME_MS = 4 * 60_000;

/** What streams need; ThreadWork fits. */
interface StreamWork {
  workspace: { streams: Pick<MessageStreams, 'isAvailable' | 'start' | 'append' | 'stop'> };
  lease: Lease;
}

/** How an addition waits for its permit, and what the message shows then. */
interface PartAppend extends Pick<StreamAppend, 'state' | 'signal' | 'maxWaitMs'> {
  render: () => Promise<RenderedMessage | undefined>;
}

/** The messages of a turn that are streams: text is added to them, and they can be edited once they are stopped. */
export class ReplyStreams {
  readonly #work: StreamWork;
  readonly #turn: TurnLocation;
  readonly #posts: IdempotentPosts;
  /** What this process has streamed, by part. */
  readonly #open = new Map<string, { markdown: string; until: number }>();
  readonly #stopped = new Set<string>();

  constructor(work: StreamWork, turn: TurnLocation, posts: IdempotentPosts) {
    this.#work = work;
    this.#turn = turn;
    this.#posts = posts;
  }

  /** Whether Slack may accept another stream. */
  get isAvailable(): boolean {
    return this.#work.workspace.streams.isAvailable;
  }

  /** The Markdown that a part shows to which more can be added. */
  shownBy(part: string): string | undefined {
    const stream = this.#open.get(part);
    return stream !== undefined && performance.now() < stream.until ? stream.markdown : undefined;
  }

  /** Posts a part once as a stream; false without a permit, or where Slack refuses it. Throws a SlackError. */
  async start(part: string, { markdown = '' }: RenderedMessage): Promise<boolean> {
    const { streams } = this.#work.workspace;
    try {
      const until = performance.now() + STREAM_LIFETIME_MS;
      const start = async (post: PostIdentity) => {
        const started = await streams.start({ ...post, markdown });
        if (started !== undefined) this.#open.set(part, { markdown, until });
        return started;
      };
      return await this.#posts.postOnce(part, null, start, true);
    } catch (error) {
      if (error instanceof SlackError && error.outcome === 'none') return false;
      throw error;
    }
  }

  /** Adds what is missing to a part when the budget allows it; `impossible` where only an edit shows it. */
  async append(part: string, request: PartAppend): Promise<'shown' | 'left_out' | 'impossible'> {
    const { ts } = this.#posts.find(part) ?? {};
    const shown = this.shownBy(part);
    if (ts === undefined || shown === undefined) return 'impossible';
    let markdown = shown;
    const outcome = await this.#work.workspace.streams.append({
      ...request,
      channel: this.#turn.channel,
      ts,
      guard: this.#work.lease,
      render: async () => {
        markdown = (await request.render())?.markdown ?? '';
        return markdown.startsWith(shown) ? markdown.slice(shown.length) || undefined : undefined;
      },
    });
    if (outcome === 'refused') this.#open.delete(part);
    if (outcome !== 'added') return outcome === 'left_out' ? outcome : 'impossible';
    const { until = 0 } = this.#open.get(part) ?? {};
    this.#open.set(part, { markdown, until });
    return 'shown';
  }

  /** Makes sure that a part is no stream any more; false without a permit within `maxWaitMs`. Throws a SlackError. */
  async stop(part: string, wait: Pick<PartAppend, 'signal' | 'maxWaitMs'> = {}): Promise<boolean> {
    const post = this.#posts.find(part);
    if (post?.is_stream !== true || this.#stopped.has(post.ts)) return true;
    const { channel, ts } = post;
    const request = { ...wait, channel, ts, guard: this.#work.lease };
    if (!(await this.#work.workspace.streams.stop(request))) return false;
    this.#open.delete(part);
    this.#stopped.add(ts);
    return true;
  }
}
