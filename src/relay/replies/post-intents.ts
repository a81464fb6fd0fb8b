import type { Logger } from 'pino';
import { MessageGoneError } from '../../slack/errors.ts';
import type { MessageHistory } from '../../slack/message-history.ts';
import type { Posting } from '../../slack/posting.ts';
import type { Post } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { Lease } from '../runtime/lease.ts';
import { INTENT_MAX_AGE_MS, SLACK_CALL_LIFETIME_MS, waitUntilCallEnded } from '../runtime/unknown-outcome.ts';

/** What posts need; ThreadWork fits. */
export interface PostWork {
  deps: { log: Logger; store: Pick<Store, 'posts'>; onBlockRefused?: (block: string) => void };
  workspace: {
    posting: Pick<Posting, 'post' | 'edit' | 'delete'>;
    readBack: Pick<MessageHistory, 'findOwnPost'>;
    wasThereAfter: (at: number) => Promise<boolean>;
  };
  lease: Lease;
}

/**
 * Looks for a post whose outcome is unknown, once its call has surely ended; undefined if the thread does not have it.
 * `known`: the ts of the turn's other messages. Throws a SlackError.
 */
export async function findUnknownPost(
  { workspace, lease }: Omit<PostWork, 'deps'>,
  post: Post,
  known: ReadonlySet<string>,
): Promise<{ ts: string } | undefined> {
  await waitUntilCallEnded(post.intended_at, SLACK_CALL_LIFETIME_MS, lease);
  const { posting, readBack } = workspace;
  const { channel, thread_ts: threadTs, dedupe_key: key, intended_at: intendedAt } = post;
  const query = { channel, key, intendedAt, guard: lease, signal: lease.signal };
  const streamsExcept = post.is_stream ? known : undefined;
  return readBack.findOwnPost({ ...query, threadTs, streamsExcept }).catch(async (error: unknown) => {
    // A post whose thread was deleted meanwhile is in the channel.
    const stray = error instanceof MessageGoneError ? await readBack.findOwnPost(query) : undefined;
    if (stray !== undefined) await posting.delete({ channel, ts: stray.ts, guard: lease });
    throw error;
  });
}

/** The intent to post a turn's first reply, which is recorded with the turn: of use only for a call that leaves soon. */
export class FirstIntent {
  /** When it was recorded (`performance.now()`), if no call was made for it. */
  #begunAt: number | undefined;
  readonly #lease: Lease;
  readonly #remove: () => Promise<void>;
  #withdrawal: Promise<void> | undefined;

  /** `begunAt`: undefined if there is none. `remove` deletes it from the store. */
  constructor(begunAt: number | undefined, lease: Lease, remove: () => Promise<void>) {
    this.#begunAt = begunAt;
    this.#lease = lease;
    this.#remove = remove;
    if (begunAt === undefined) return;
    setTimeout(() => void this.withdraw().catch(() => undefined), INTENT_MAX_AGE_MS).unref();
  }

  /** Whether it serves a call that leaves now. Otherwise the call needs one of its own. */
  async use(): Promise<boolean> {
    const isRecent = this.#begunAt !== undefined && performance.now() - this.#begunAt <= INTENT_MAX_AGE_MS;
    this.#begunAt = undefined;
    await this.#withdrawal;
    return isRecent;
  }

  /** Withdraws it if no call was made for it, even if one waits for its permit: another process need not look then. */
  async withdraw(): Promise<void> {
    if (this.#begunAt !== undefined && this.#lease.remainingMs() > 0) {
      this.#begunAt = undefined;
      // One that fails is not repeated: the intent of the next call takes its place.
      this.#withdrawal = this.#remove().finally(() => {
        this.#withdrawal = undefined;
      });
    }
    await this.#withdrawal;
  }
}
