import { randomUUID } from 'node:crypto';
import type { ResultFile } from '../../agent/service-schema.ts';
import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { escapeMrkdwn } from '../../render/markdown/pings.ts';
import { type ListedResult, resultMessages, withoutLinks } from '../../render/messages/result-list.ts';
import type { Turn } from '../../store/schema.ts';
import type { ResultLinkTarget, SettledTurnContext } from '../runtime/deps.ts';
import { postInlineResults } from './inline-results.ts';
import { ThreadPosts } from './thread-posts.ts';

/**
 * Posts the results of a settled turn: each result of the task once in its thread. What is claimed for this turn
 * stays its own, so that a retry posts the same. From then on the task is watched for more. The answer is how many
 * were posted.
 */
export async function postResults(context: SettledTurnContext): Promise<number> {
  const all = await context.agent.allResults(context.taskId, { signal: context.lease.signal });
  await claimNewResults(context, '', all);
  const count = await postResultBatch(context, '', all);
  await scheduleFollowUps(context);
  return count;
}

/** Results that the task has later, or that can be read later, are looked for and posted. */
export async function scheduleFollowUps({
  deps,
  turn,
}: Pick<SettledTurnContext, 'deps' | 'turn'>): Promise<void> {
  const { followUpMs, followUpIntervalMs } = deps.settings.results;
  if (followUpMs > 0)
    await deps.store.followUps.schedule(turn, { firstMs: followUpIntervalMs, forMs: followUpMs });
}

/** Posts the results that the task made after its last turn, each once. A look of the watch. */
export async function postLaterResults(context: SettledTurnContext): Promise<void> {
  const { deps, turn } = context;
  const all = await context.agent.allResults(context.taskId, { signal: context.lease.signal });
  await claimNewResults(context, randomUUID(), all);
  const batches = new Map<string, string>();
  for (const { turn: owner, batch, shown } of (await deps.store.results.ofThread(turn)).values()) {
    if (batch !== '' && !shown) batches.set(batch, owner);
  }
  for (const [batch, owner] of batches) {
    const poster = await postingTurn(context, owner);
    if (poster !== undefined && isOfTask(poster, context.taskId))
      await postResultBatch({ ...context, turn: poster }, batch, all);
  }
}

/** The turn that claimed something for a post makes it, also where another one has ended meanwhile. */
export async function postingTurn(
  { deps, turn }: SettledTurnContext,
  owner: string,
): Promise<Turn | undefined> {
  return owner === turn.id ? turn : deps.store.turns.get(turn.workspace, owner);
}

function isOfTask({ task_id: task }: Turn, taskId: string): boolean {
  return task === null || task === taskId;
}

async function claimNewResults(
  { deps, turn }: SettledTurnContext,
  batch: string,
  all: ResultFile[],
): Promise<void> {
  const claimed = await deps.store.results.ofThread(turn);
  const fresh = all.filter(({ id }) => !claimed.has(id)).map(({ id }) => id);
  await deps.store.results.claim(turn, batch, fresh);
}

async function postResultBatch(
  context: SettledTurnContext,
  batch: string,
  all: ResultFile[],
): Promise<number> {
  const { deps, workspace, agent, turn, lease } = context;
  const claimed = await deps.store.results.ofThread(turn);
  const mine = all.filter(({ id }) => {
    const claim = claimed.get(id);
    return claim?.turn === turn.id && claim.batch === batch;
  });
  if (mine.length > 0) {
    const posts = new ThreadPosts(deps, workspace, turn, lease);
    await posts.load();
    const { stableLink } = deps.settings.results;
    const link = stableLink === undefined ? undefined : (id: string) => stableLink(linkTarget(turn, id));
    const shown = mine.map((result) => toShownResult(result, link));
    const messages = resultMessages(shown, { turnId: turn.id, later: batch !== '' });
    const prefix = batch === '' ? 'results' : `results:${batch}`;
    for (const [index, message] of messages.entries()) {
      await posts.postWithFallbacks(`${prefix}:${index}`, message, [withoutLinks, textOnly], 'result');
    }
    await postInlineResults(deps, workspace, agent, posts, turn, mine, lease);
  }
  await deps.store.results.markPosted(turn, batch);
  return mine.length;
}

function textOnly({ text }: RenderedMessage): RenderedMessage {
  return { text: escapeMrkdwn(text), blocks: [] };
}

function linkTarget({ workspace, channel, root }: Turn, resultId: string): ResultLinkTarget {
  return { workspace, channel, root, resultId };
}

/** A result as the thread shows it; `stable` makes a link of ours. */
export function toShownResult(result: ResultFile, stableLink?: (resultId: string) => string): ListedResult {
  const { id, name, sizeBytes, mimeType, downloadUrl } = result;
  const url = downloadUrl && stableLink !== undefined ? stableLink(id) : downloadUrl;
  return { name, sizeBytes, mimeType, url };
}
