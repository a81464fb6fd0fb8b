import type { AgentClient } from '../../agent/agent-client.ts';
import {
  AgentError,
  AgentNotFoundError,
  AgentRejectedError,
  AgentResponseSizeError,
} from '../../agent/errors.ts';
import { type Message as AgentMessage, messageText } from '../../agent/service-schema.ts';
import * as strings from '../../render/strings/index.ts';
import type { TurnOutcome } from '../../store/schema.ts';
import { AccountGone } from '../installations/account-check.ts';
import { postResults, scheduleFollowUps } from '../replies/result-posts.ts';
import type { ThreadPosts } from '../replies/thread-posts.ts';
import type { SettledTurnContext } from '../runtime/deps.ts';
import { isBotId, isDirectChannel } from '../runtime/incoming-message.ts';
import { TurnEnded } from '../runtime/turn-errors.ts';

/** What an error that does not pass by itself means for its turn, by what the service has of it. */
export function outcomeOfError(
  error: unknown,
  atService: { task: boolean; message: boolean },
): {
  outcome: TurnOutcome;
  sentence: string | null;
  offer?: 'choose' | undefined;
} {
  if (error instanceof TurnEnded)
    return { outcome: error.outcome, sentence: error.sentence, offer: error.offer };
  if (error instanceof AccountGone) return { outcome: 'refused', sentence: strings.accountChanged };
  if (error instanceof AgentError) return { outcome: 'refused', sentence: failureSentence(error, atService) };
  return { outcome: 'abandoned', sentence: strings.retriesExhausted };
}

/** The error's own sentence is for operators; they find it in the log. */
function failureSentence(error: AgentError, atService: { task: boolean; message: boolean }): string {
  if (error instanceof AgentNotFoundError && atService.task) return strings.taskNotFound;
  const serviceMessage = error instanceof AgentRejectedError ? error.words : undefined;
  if (atService.message)
    return error instanceof AgentResponseSizeError
      ? strings.answerTooLarge
      : strings.answerUnreadable(serviceMessage ?? '');
  return serviceMessage === undefined ? strings.serviceFailed : strings.messageRejected(serviceMessage);
}

/** A turn that took longer (ms) ends with a post that mentions the asker: edits notify nobody. */
const LONG_TURN_MS = 120_000;

/**
 * Posts the turn's results; or, after a long turn without any, a line that calls its asker back. The answer stays as it
 * is where the results cannot be read: the thread is told that they are missing, and the task is watched for them.
 */
export async function postResultsOrEndLine(
  context: SettledTurnContext,
  posts: Pick<ThreadPosts, 'load' | 'post'>,
  withRetry: <T>(step: () => Promise<T>) => Promise<T>,
): Promise<void> {
  const { turn } = context;
  const count = await withRetry(() => postResults(context)).catch(async (error: unknown) => {
    if (!(error instanceof AgentError) || context.lease.signal.aborted) throw error;
    context.deps.log.error({ err: error, turn: turn.id }, 'the results of a turn cannot be read');
    await scheduleFollowUps(context);
    await posts.load();
    await withRetry(() => posts.post('unread', { text: strings.resultsUnavailable }, '', 'notice'));
    return 0;
  });
  const durationMs = Date.now() - turn.started_at.getTime();
  if (count > 0 || durationMs <= LONG_TURN_MS) return;
  await posts.load();
  // A bot is not called back, and has no user to mention.
  const asker = isDirectChannel(turn.channel) || isBotId(turn.asker) ? undefined : turn.asker;
  const text = strings.endMention(asker, endLineOutcome(turn.outcome), durationMs);
  await withRetry(() => posts.post('end', { text }, '', 'notice'));
}

/** What the line at the end of a long turn says of it. */
function endLineOutcome(outcome: TurnOutcome | null): 'done' | 'failed' | 'length' {
  return outcome === 'length' ? 'length' : outcome === 'failed' ? 'failed' : 'done';
}

/** What came of a settled reply; `stoppedAfter`: what its task went on to do was stopped. */
export function outcomeOfReply(
  message: AgentMessage,
  wasStoppedAfterReply = false,
): 'completed' | 'cancelled' | 'failed' | 'length' {
  if (message.status === 'cancelled' || message.stopReason === 'cancelled') return 'cancelled';
  if (message.status === 'failed' || message.stopReason === 'error' || message.error !== null)
    return 'failed';
  if (message.stopReason === 'length') return 'length';
  return wasStoppedAfterReply ? 'cancelled' : 'completed';
}

/** What the service said in the task beside the reply, since the message that the reply answers. */
export async function systemMessages(
  agent: AgentClient,
  taskId: string,
  reply: AgentMessage,
): Promise<string[]> {
  const lines: string[] = [];
  const from = reply.input?.userMessageId ?? null;
  if (from === null) return lines;
  for await (const message of agent.messagesAfter(taskId, from)) {
    if (message.role !== 'system') continue;
    lines.push(messageText(message));
  }
  return lines.filter((line) => line !== '');
}

/** Tools that are told apart in the audit trail. */
const MAX_AUDITED_TOOLS = 50;

/** How often the agent used which tool for a reply; beyond the first 50 they count as "others". */
export function countTools({ content }: AgentMessage): Record<string, number> {
  const tools = new Map<string, number>();
  for (const block of content) {
    if (block.type !== 'tool_use') continue;
    const name = tools.has(block.name) || tools.size < MAX_AUDITED_TOOLS ? block.name : 'others';
    tools.set(name, (tools.get(name) ?? 0) + 1);
  }
  return Object.fromEntries(tools);
}
