import { createHash } from 'node:crypto';
import { AgentNotFoundError } from '../../agent/errors.ts';
import type { Review } from '../../agent/schema.ts';
import { withPlainText } from '../../reply/fallback.ts';
import { failedReview, reviewMessages, type ShownReview } from '../../reply/review.ts';
import type { RenderedMessage } from '../../reply/slack-blocks.ts';
import { plain } from '../../slack/message.ts';
import type { AfterTurn } from '../context.ts';
import { replyBlock } from './rendered.ts';
import { shareRest } from './rest-file.ts';
import { tellerOf } from './results.ts';
import { ThreadPosts } from './thread-posts.ts';

/** States of a message that is still being written. */
const unfinished: readonly (string | null)[] = ['pending', 'streaming', 'cancelling'];

const bareText = (message: RenderedMessage) => ({ ...plain(message), blocks: [] });
/** What Slack may take of a message that it refuses, the fullest first. */
const simpler = [withPlainText, bareText];

/**
 * Posts the reviews of a task that have their findings, each once in its thread, and says of one that failed that it
 * did. A look of the watch. The turn that claims a review posts it, also where another turn has ended meanwhile.
 */
export async function postReviews(after: AfterTurn): Promise<void> {
  const { parts, agent, turn, taskId, lease } = after;
  const { reviews } = await agent.getTask(taskId, { signal: lease.signal });
  const shown = await parts.store.reviews.shownIn(turn);
  const names = namesOf(taskId, reviews);
  for (const [index, review] of reviews.entries()) {
    const name = names[index];
    if (name === undefined || shown.has(name) || shown.has(formerName(name))) continue;
    const whole = await rendered(after, review);
    if (whole === undefined) continue;
    const owner = await parts.store.reviews.claim(turn, name);
    const teller = await tellerOf(after, owner);
    if (teller !== undefined) await post({ ...after, turn: teller }, name, whole);
    await parts.store.reviews.shown(turn, name);
  }
}

/**
 * What a task's reviews are known by, in their order; undefined while nothing of one can be shown. A failed one without
 * a message of its own is one of so many of the task with the same words.
 */
function namesOf(taskId: string, reviews: readonly Review[]): (string | undefined)[] {
  const counts = new Map<string, number>();
  return reviews.map(({ status, messageId, errorMessage }) => {
    if (status === 'failed' && messageId !== null) return `failed:${messageId}`;
    // The findings of others can be read once they have completed.
    if (status !== 'failed') return status === 'running' ? undefined : (messageId ?? undefined);
    const words = createHash('sha256')
      .update(errorMessage ?? '')
      .digest('base64url');
    const number = (counts.get(words) ?? 0) + 1;
    counts.set(words, number);
    return `failed:${taskId}:${words}:${number}`;
  });
}

/** What an earlier release knew a review by: it took failed ones of a thread with the same words for one. */
function formerName(name: string): string {
  return name.replace(/^failed:[^:]*:([^:]*):1$/, 'failed:$1');
}

/** The review as messages; undefined while its findings cannot be read. */
async function rendered(
  { agent, taskId, parts, lease }: AfterTurn,
  { status, messageId, errorMessage }: Review,
): Promise<ShownReview | undefined> {
  if (status === 'failed')
    return { messages: [failedReview(errorMessage ?? '')], rest: undefined, beyond: () => [] };
  try {
    const message = await agent.getMessage(taskId, messageId ?? '', { signal: lease.signal });
    if (unfinished.includes(message.status)) return undefined;
    return reviewMessages(message.content.map(replyBlock), parts.settings.replyMessages);
  } catch (error) {
    if (error instanceof AgentNotFoundError) return undefined;
    throw error;
  }
}

async function post(after: AfterTurn, name: string, review: ShownReview): Promise<void> {
  const { parts, workspace, turn, lease } = after;
  const posts = new ThreadPosts(parts, workspace, turn, lease);
  await posts.load();
  const part = `review:${name}`;
  for (const [index, message] of review.messages.entries()) {
    await posts.postInAnyForm(`${part}:${index}`, message, simpler, 'result');
  }
  if (review.rest === undefined) return;
  const room = { slackFiles: parts.store.slackFiles, uploads: workspace.uploads, log: parts.log };
  if (await shareRest(room, turn, review.rest, lease, part)) return;
  for (const [index, message] of review.beyond().entries()) {
    await posts.postInAnyForm(`${part}:${review.messages.length + index}`, message, simpler, 'result');
  }
}
