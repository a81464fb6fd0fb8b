import type { Logger } from 'pino';
import { MessageGoneError } from '../../slack/errors.ts';
import type { MessageHistory } from '../../slack/message-history.ts';
import type { Posting } from '../../slack/posting.ts';
import type { Post } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { Lease } from '../runtime/lease.ts';
import { SLACK_CALL_LIFETIME_MS, waitUntilCallEnded } from '../runtime/unknown-outcome.ts';

/** What posts need; ThreadWork fits. */
export interface PostWork {
  deps: { log: Logger; store: Pick<Store, 'posts'>; onBlockRefused?: (block: string) => void };
  workspace: {
    posting: Pick<Posting, 'post' | 'edit' | 'delete'>;
    readBack: Pick<MessageHistory, 'findOwnPost' | 'messages'>;
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

/** Whether Slack shows a text in a post, after an edit with an unknown outcome. Throws a SlackError. */
export async function showsText(
  { workspace, lease }: Omit<PostWork, 'deps'>,
  { channel, thread_ts: threadTs, ts: oldest }: Post & { ts: string },
  shown: string,
): Promise<boolean> {
  const query = { channel, threadTs, oldest, guard: lease, signal: lease.signal };
  for await (const { ts, text } of workspace.readBack.messages(query))
    if (ts === oldest) return text.trim() === shown.trim();
  return false;
}
