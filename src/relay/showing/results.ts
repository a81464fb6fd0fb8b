import { randomUUID } from 'node:crypto';
import type { ResultFile } from '../../agent/schema.ts';
import { escapeMrkdwn } from '../../reply/pings.ts';
import { type Result, resultMessages, withoutLinks } from '../../reply/results.ts';
import type { RenderedMessage } from '../../reply/slack-blocks.ts';
import type { Turn } from '../../store/tables.ts';
import type { AfterTurn, LinkedResult } from '../context.ts';
import { showInline } from './inline-results.ts';
import { ThreadPosts } from './thread-posts.ts';

/**
 * Posts the results of a settled turn: each result of the task once in its thread. What is claimed for this turn
 * stays its own, so that a retry posts the same. From then on the task is watched for more. The answer is how many
 * were posted.
 */
export async function postResults(after: AfterTurn): Promise<number> {
  const all = await after.agent.allResults(after.taskId, { signal: after.lease.signal });
  await claimFresh(after, '', all);
  const count = await postBatch(after, '', all);
  await watchForMore(after);
  return count;
}

/** Results that the task has later, or that can be read later, are looked for and posted. */
export async function watchForMore({ parts, turn }: Pick<AfterTurn, 'parts' | 'turn'>): Promise<void> {
  const { watchMs, watchEveryMs } = parts.settings.results;
  if (watchMs > 0) await parts.store.watches.keep(turn, { firstMs: watchEveryMs, forMs: watchMs });
}

/** Posts the results that the task made after its last turn, each once. A look of the watch. */
export async function postLaterResults(after: AfterTurn): Promise<void> {
  const { parts, turn } = after;
  const all = await after.agent.allResults(after.taskId, { signal: after.lease.signal });
  await claimFresh(after, randomUUID(), all);
  const batches = new Map<string, string>();
  for (const { turn: owner, batch, shown } of (await parts.store.results.of(turn)).values()) {
    if (batch !== '' && !shown) batches.set(batch, owner);
  }
  for (const [batch, owner] of batches) {
    const teller = await tellerOf(after, owner);
    if (teller !== undefined && isOfTask(teller, after.taskId))
      await postBatch({ ...after, turn: teller }, batch, all);
  }
}

/** The turn that claimed something for a post makes it, also where another one has ended meanwhile. */
export async function tellerOf({ parts, turn }: AfterTurn, owner: string): Promise<Turn | undefined> {
  return owner === turn.id ? turn : parts.store.turns.get(turn.workspace, owner);
}

function isOfTask({ task_id: task }: Turn, taskId: string): boolean {
  return task === null || task === taskId;
}

async function claimFresh({ parts, turn }: AfterTurn, batch: string, all: ResultFile[]): Promise<void> {
  const claimed = await parts.store.results.of(turn);
  const fresh = all.filter(({ id }) => !claimed.has(id)).map(({ id }) => id);
  await parts.store.results.claim(turn, batch, fresh);
}

async function postBatch(after: AfterTurn, batch: string, all: ResultFile[]): Promise<number> {
  const { parts, workspace, agent, turn, lease } = after;
  const claimed = await parts.store.results.of(turn);
  const mine = all.filter(({ id }) => {
    const claim = claimed.get(id);
    return claim?.turn === turn.id && claim.batch === batch;
  });
  if (mine.length > 0) {
    const posts = new ThreadPosts(parts, workspace, turn, lease);
    await posts.load();
    const { stableLink } = parts.settings.results;
    const link = stableLink === undefined ? undefined : (id: string) => stableLink(linked(turn, id));
    const shown = mine.map((result) => shownResult(result, link));
    const messages = resultMessages(shown, { turnId: turn.id, later: batch !== '' });
    const prefix = batch === '' ? 'results' : `results:${batch}`;
    for (const [index, message] of messages.entries()) {
      await posts.postInAnyForm(`${prefix}:${index}`, message, [withoutLinks, onlyText], 'result');
    }
    await showInline(parts, workspace, agent, posts, turn, mine, lease);
  }
  await parts.store.results.shown(turn, batch);
  return mine.length;
}

function onlyText({ text }: RenderedMessage): RenderedMessage {
  return { text: escapeMrkdwn(text), blocks: [] };
}

function linked({ workspace, channel, root }: Turn, resultId: string): LinkedResult {
  return { workspace, channel, root, resultId };
}

/** A result as the thread shows it; `stable` makes a link of ours. */
export function shownResult(result: ResultFile, stable?: (resultId: string) => string): Result {
  const { id, name, sizeBytes, mimeType, downloadUrl } = result;
  const url = downloadUrl && stable !== undefined ? stable(id) : downloadUrl;
  return { name, sizeBytes, mimeType, url };
}
