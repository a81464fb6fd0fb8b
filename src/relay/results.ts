import type { AgentClient } from '../agent/client.ts';
import type { ResultFile } from '../agent/schema.ts';
import { type Result, resultMessages } from '../reply/results.ts';
import type { Turn } from '../store/tables.ts';
import type { RelayParts } from './context.ts';
import type { Lease } from './dispatcher.ts';
import { digestOf } from './reply-state.ts';
import type { ThreadPosts } from './thread-posts.ts';

/**
 * Posts the results of a settled turn: each result of the task once in its thread. What is claimed for this turn
 * stays its own, so that a retry posts the same. The answer is how many were posted.
 */
export async function postResults(
  parts: RelayParts,
  agent: AgentClient,
  posts: ThreadPosts,
  turn: Turn,
  taskId: string,
  lease: Lease,
): Promise<number> {
  const all = await agent.allResults(taskId, { signal: lease.signal });
  const posted = await parts.store.results.of(turn);
  const fresh = all.filter((result) => !posted.has(result.id));
  await parts.store.results.claim(
    turn,
    fresh.map((result) => result.id),
  );
  const ours = await parts.store.results.of(turn);
  const mine = all.filter((result) => ours.get(result.id) === turn.id);
  if (mine.length === 0) return 0;
  const messages = resultMessages(mine.map(shownResult), { turnId: turn.id });
  await posts.load();
  for (const [index, message] of messages.entries()) {
    await posts.post(`results:${index}`, message, digestOf(message), 'result');
  }
  return mine.length;
}

/** A result as the thread shows it. */
export function shownResult({ name, sizeBytes, mimeType, downloadUrl }: ResultFile): Result {
  return { name, sizeBytes, mimeType, url: downloadUrl };
}
