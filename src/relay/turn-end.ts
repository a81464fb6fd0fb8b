import type { AgentClient } from '../agent/client.ts';
import { AgentAnswerSizeError, AgentError, AgentNotFoundError, AgentRejectedError } from '../agent/errors.ts';
import { type Message as AgentMessage, textOf } from '../agent/schema.ts';
import * as words from '../reply/words.ts';
import type { TurnOutcome } from '../store/tables.ts';
import { AccountGone } from './accounts/standing.ts';
import { isBotId } from './admitting/admittance.ts';
import { isDirect } from './arriving/arrivals.ts';
import type { AfterTurn } from './context.ts';
import { TurnEnds } from './interruption.ts';
import { postResults, watchForMore } from './showing/results.ts';
import type { ThreadPosts } from './showing/thread-posts.ts';

/** What an error that does not pass by itself means for its turn, by what the service has of it. */
export function ending(
  error: unknown,
  has: { task: boolean; message: boolean },
): {
  outcome: TurnOutcome;
  sentence: string | null;
  offer?: 'choose' | undefined;
} {
  if (error instanceof TurnEnds)
    return { outcome: error.outcome, sentence: error.sentence, offer: error.offer };
  if (error instanceof AccountGone) return { outcome: 'refused', sentence: words.accountChanged };
  if (error instanceof AgentError) return { outcome: 'refused', sentence: failureWords(error, has) };
  return { outcome: 'abandoned', sentence: words.abandoned };
}

/** The error's own sentence is for operators; they find it in the log. */
function failureWords(error: AgentError, has: { task: boolean; message: boolean }): string {
  if (error instanceof AgentNotFoundError && has.task) return words.taskGone;
  const said = error instanceof AgentRejectedError ? error.words : undefined;
  if (has.message)
    return error instanceof AgentAnswerSizeError ? words.answerTooLarge : words.unreadable(said ?? '');
  return said === undefined ? words.notTaken : words.rejected(said);
}

/** A turn that took longer (ms) ends with a post that mentions the asker: edits notify nobody. */
const longTurnMs = 120_000;

/**
 * Posts the turn's results; or, after a long turn without any, a line that calls its asker back. The answer stays as it
 * is where the results cannot be read: the thread is told that they are missing, and the task is watched for them.
 */
export async function postEnd(
  after: AfterTurn,
  posts: Pick<ThreadPosts, 'load' | 'post'>,
  patiently: <T>(step: () => Promise<T>) => Promise<T>,
): Promise<void> {
  const { turn } = after;
  const count = await patiently(() => postResults(after)).catch(async (error: unknown) => {
    if (!(error instanceof AgentError) || after.lease.signal.aborted) throw error;
    after.parts.log.error({ err: error, turn: turn.id }, 'the results of a turn cannot be read');
    await watchForMore(after);
    await posts.load();
    await patiently(() => posts.post('unread', { text: words.resultsUnread }, '', 'notice'));
    return 0;
  });
  const tookMs = Date.now() - turn.started_at.getTime();
  if (count > 0 || tookMs <= longTurnMs) return;
  await posts.load();
  // A bot is not called back, and has no user to mention.
  const asker = isDirect(turn.channel) || isBotId(turn.asker) ? undefined : turn.asker;
  const text = words.askerLine(asker, lineOutcome(turn.outcome), tookMs);
  await patiently(() => posts.post('end', { text }, '', 'notice'));
}

/** What the line at the end of a long turn says of it. */
function lineOutcome(outcome: TurnOutcome | null): 'done' | 'failed' | 'length' {
  return outcome === 'length' ? 'length' : outcome === 'failed' ? 'failed' : 'done';
}

/** What came of a settled reply; `stoppedAfter`: what its task went on to do was stopped. */
export function outcomeOf(
  message: AgentMessage,
  stoppedAfter = false,
): 'completed' | 'cancelled' | 'failed' | 'length' {
  if (message.status === 'cancelled' || message.stopReason === 'cancelled') return 'cancelled';
  if (message.status === 'failed' || message.stopReason === 'error' || message.error !== null)
    return 'failed';
  if (message.stopReason === 'length') return 'length';
  return stoppedAfter ? 'cancelled' : 'completed';
}

/** What the service said in the task beside the reply, since the message that the reply answers. */
export async function systemLines(
  agent: AgentClient,
  taskId: string,
  reply: AgentMessage,
): Promise<string[]> {
  const lines: string[] = [];
  const from = reply.input?.userMessageId ?? null;
  if (from === null) return lines;
  for await (const message of agent.messagesAfter(taskId, from)) {
    if (message.role !== 'system') continue;
    lines.push(textOf(message));
  }
  return lines.filter((line) => line !== '');
}

/** Tools that are told apart in the audit trail. */
const mostTools = 50;

/** How often the agent used which tool for a reply; beyond the first 50 they count as "others". */
export function toolsIn({ content }: AgentMessage): Record<string, number> {
  const tools = new Map<string, number>();
  for (const block of content) {
    if (block.type !== 'tool_use') continue;
    const name = tools.has(block.name) || tools.size < mostTools ? block.name : 'others';
    tools.set(name, (tools.get(name) ?? 0) + 1);
  }
  return Object.fromEntries(tools);
}
