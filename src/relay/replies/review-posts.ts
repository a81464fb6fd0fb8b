import { undefinedIfNotFound } from '../../agent/errors.ts';
import type { Review } from '../../agent/service-schema.ts';
import { plainMessage } from '../../render/blocks/slack-blocks.ts';
import { answerText, withPlainText } from '../../render/messages/answer-text.ts';
import { type DisplayedReview, reviewMessages } from '../../render/messages/review-message.ts';
import { AnswerSplitter } from '../../render/splitting/answer-splitter.ts';
import * as strings from '../../render/strings/index.ts';
import type { SettledTurnContext } from '../runtime/deps.ts';
import { asRendered, textDigest, textOnly } from './fallback-forms.ts';
import { IdempotentPosts } from './idempotent-posts.ts';
import { keptSizeOf, type ReadReply, toReadReply, UNFINISHED_STATUSES } from './reply-blocks.ts';
import { claimNew, postingTurn } from './result-posts.ts';
import { ThreadFiles } from './thread-files.ts';

/** Most messages of a review where Slack takes no file with its rest: about half a million characters. */
const MAX_REVIEW_MESSAGES = 50;

/** What Slack may accept of a review, the fullest first. */
const REVIEW_FORMS = [asRendered, withPlainText, textOnly];

/**
 * Posts the finished reviews of a task, each once in its thread, or that a review has failed. Each follow-up check
 * calls it. The turn that claims a review posts it, even if another turn has ended since.
 */
export async function postReviews(context: SettledTurnContext): Promise<void> {
  const { deps, agent, turn, taskId, lease } = context;
  const { reviews } = await agent.getTask(taskId, { signal: lease.signal });
  if (reviews.length === 0) return;
  const posted = await deps.store.results.ofThread(turn);
  const keys = reviewKeys(taskId, reviews);
  for (const [index, review] of reviews.entries()) {
    const key = keys[index];
    if (key === undefined || posted.get(key)?.shown) continue;
    const render = await reviewRenderer(context, review);
    if (render === undefined) continue;
    const owner = (await claimNew(context, key, [{ id: key }])).get(key)?.turn_id ?? turn.id;
    const poster = await postingTurn(context, owner);
    if (poster !== undefined) await postReview({ ...context, turn: poster }, key, render);
    await deps.store.results.markPosted({ ...turn, id: owner }, key);
  }
}

/**
 * The keys by which a task's reviews are posted once, in their order; undefined for a review with nothing to show
 * yet. A review without a message has failed or, once completed, is `unreadable`. It has no id: a number tells it
 * apart from others with the same error text.
 */
export function reviewKeys(taskId: string, reviews: readonly Review[]): (string | undefined)[] {
  const counts = new Map<string, number>();
  return reviews.map((review) => {
    const { status, messageId, errorMessage } = review;
    const isFailed = hasFailed(review);
    if (isFailed && messageId !== null) return `review:failed:${messageId}`;
    // Once the review no longer runs, its findings can be read: `reviewRenderer` looks whether they are finished.
    if (!isFailed && messageId !== null) return status === 'running' ? undefined : `review:${messageId}`;
    // Only `completed` tells that no message will come.
    if (!isFailed && status !== 'completed') return undefined;
    const errorDigest = textDigest(errorMessage ?? '');
    const number = (counts.get(errorDigest) ?? 0) + 1;
    counts.set(errorDigest, number);
    return `review:${isFailed ? 'failed' : 'unreadable'}:${taskId}:${errorDigest}:${number}`;
  });
}

/** A review with an error has failed, whatever its status. */
export function hasFailed({ status, errorMessage }: Review): boolean {
  return status === 'failed' || errorMessage !== null;
}

type ReviewRenderer = (maxMessages: number) => DisplayedReview;

/** Reads a review, and returns what renders it; undefined while it has nothing to show. */
async function reviewRenderer(
  { agent, taskId, deps, workspace, lease, memory }: SettledTurnContext,
  review: Review,
): Promise<ReviewRenderer | undefined> {
  const { status, messageId, errorMessage } = review;
  const sentence = (text: string) => () => ({ messages: [plainMessage(text)] });
  if (hasFailed(review)) return sentence(strings.reviewFailed(errorMessage ?? ''));
  if (messageId === null) return sentence(strings.reviewUnreadable);
  const get = async () => toReadReply(await agent.getMessage(taskId, messageId, { signal: lease.signal }));
  const sizeOf = (reply?: ReadReply) => ({ bytes: reply ? keptSizeOf(reply).bytes : 0, isSettled: true });
  const message = await memory.read('reply', () => undefinedIfNotFound(get), sizeOf, { lease });
  if (message === undefined && status === 'completed') return sentence(strings.reviewUnreadable);
  if (message === undefined || UNFINISHED_STATUSES.includes(message.status)) return undefined;
  const text = answerText(message.blocks);
  const splitter = new AnswerSplitter();
  const options = { final: true, most: MAX_REVIEW_MESSAGES };
  const splitMore = () => {
    const isMore = splitter.closePart(text, options);
    // The part that stays open is rendered, and kept by the splitter.
    if (!isMore) splitter.parts(text, options);
    return isMore;
  };
  // The splitter keeps the parts, which are made here without holding up the process.
  await deps.rendering.runAll(workspace.id, splitMore, lease.signal);
  return (maxMessages) => reviewMessages(message.blocks, maxMessages, splitter);
}

/** Posts a review. Its rest becomes a file, else more messages, else a notice that it is too long. */
async function postReview(context: SettledTurnContext, key: string, render: ReviewRenderer): Promise<void> {
  const posts = new IdempotentPosts(context, context.turn);
  const files = new ThreadFiles(context, context.turn);
  // The second round only adds messages: those of the first are rendered the same, and are there already.
  for (const maxMessages of [context.deps.settings.maxReplyMessages, MAX_REVIEW_MESSAGES]) {
    const { messages, rest } = render(maxMessages);
    for (const [index, message] of messages.entries())
      await posts.post(`${key}:${index}`, message, 'result', REVIEW_FORMS);
    if (rest === undefined || (await files.attach(key, rest))) return;
  }
  await posts.postNotice(`${key}:too-long`, strings.reviewTooLong);
}
