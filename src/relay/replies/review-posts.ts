import { createHash } from 'node:crypto';
import { AgentNotFoundError } from '../../agent/errors.ts';
import type { Review } from '../../agent/service-schema.ts';
import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { withPlainText } from '../../render/messages/plain-text-message.ts';
import {
  type DisplayedReview,
  failedReviewMessage,
  reviewMessages,
} from '../../render/messages/review-message.ts';
import { withoutBlocks } from '../../slack/slack-message.ts';
import type { SettledTurnContext } from '../runtime/deps.ts';
import { attachOverflow } from './overflow-file.ts';
import { toReplyBlock } from './reply-blocks.ts';
import { postingTurn } from './result-posts.ts';
import { ThreadPosts } from './thread-posts.ts';

/** States of a message that is still being written. */
const UNFINISHED_STATUSES: readonly (string | null)[] = ['pending', 'streaming', 'cancelling'];

const textOnly = (message: RenderedMessage) => ({ ...withoutBlocks(message), blocks: [] });
/** What Slack may take of a message that it refuses, the fullest first. */
const FALLBACK_FORMS = [withPlainText, textOnly];

/**
 * Posts the reviews of a task that have their findings, each once in its thread, and says of one that failed that it
 * did. A look of the watch. The turn that claims a review posts it, also where another turn has ended meanwhile.
 */
export async function postReviews(context: SettledTurnContext): Promise<void> {
  const { deps, agent, turn, taskId, lease } = context;
  const { reviews } = await agent.getTask(taskId, { signal: lease.signal });
  const shown = await deps.store.reviews.postedIn(turn);
  const keys = reviewKeys(taskId, reviews);
  for (const [index, review] of reviews.entries()) {
    const key = keys[index];
    if (key === undefined || shown.has(key) || shown.has(legacyReviewKey(key))) continue;
    const rendered = await renderReview(context, review);
    if (rendered === undefined) continue;
    const owner = await deps.store.reviews.claim(turn, key);
    const poster = await postingTurn(context, owner);
    if (poster !== undefined) await postReview({ ...context, turn: poster }, key, rendered);
    await deps.store.reviews.markPosted(turn, key);
  }
}

/**
 * What a task's reviews are known by, in their order; undefined while nothing of one can be shown. A failed one without
 * a message of its own is one of so many of the task with the same words.
 */
function reviewKeys(taskId: string, reviews: readonly Review[]): (string | undefined)[] {
  const counts = new Map<string, number>();
  return reviews.map(({ status, messageId, errorMessage }) => {
    if (status === 'failed' && messageId !== null) return `failed:${messageId}`;
    // The findings of others can be read once they have completed.
    if (status !== 'failed') return status === 'running' ? undefined : (messageId ?? undefined);
    const errorDigest = createHash('sha256')
      .update(errorMessage ?? '')
      .digest('base64url');
    const number = (counts.get(errorDigest) ?? 0) + 1;
    counts.set(errorDigest, number);
    return `failed:${taskId}:${errorDigest}:${number}`;
  });
}

/** What an earlier release knew a review by: it took failed ones of a thread with the same words for one. */
function legacyReviewKey(name: string): string {
  return name.replace(/^failed:[^:]*:([^:]*):1$/, 'failed:$1');
}

/** The review as messages; undefined while its findings cannot be read. */
async function renderReview(
  { agent, taskId, deps, lease }: SettledTurnContext,
  { status, messageId, errorMessage }: Review,
): Promise<DisplayedReview | undefined> {
  if (status === 'failed')
    return { messages: [failedReviewMessage(errorMessage ?? '')], rest: undefined, restAsMessages: () => [] };
  try {
    const message = await agent.getMessage(taskId, messageId ?? '', { signal: lease.signal });
    if (UNFINISHED_STATUSES.includes(message.status)) return undefined;
    return reviewMessages(message.content.map(toReplyBlock), deps.settings.maxReplyMessages);
  } catch (error) {
    if (error instanceof AgentNotFoundError) return undefined;
    throw error;
  }
}

async function postReview(context: SettledTurnContext, key: string, review: DisplayedReview): Promise<void> {
  const { deps, workspace, turn, lease } = context;
  const posts = new ThreadPosts(deps, workspace, turn, lease);
  await posts.load();
  const part = `review:${key}`;
  for (const [index, message] of review.messages.entries()) {
    await posts.postWithFallbacks(`${part}:${index}`, message, FALLBACK_FORMS, 'result');
  }
  if (review.rest === undefined) return;
  const fileDeps = { slackFiles: deps.store.slackFiles, uploads: workspace.uploads, log: deps.log };
  if (await attachOverflow(fileDeps, turn, review.rest, lease, part)) return;
  for (const [index, message] of review.restAsMessages().entries()) {
    await posts.postWithFallbacks(
      `${part}:${review.messages.length + index}`,
      message,
      FALLBACK_FORMS,
      'result',
    );
  }
}
