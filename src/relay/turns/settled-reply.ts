import type { AgentClient } from '../../agent/agent-client.ts';
import { type Message as AgentMessage, messageText } from '../../agent/service-schema.ts';
import type { ReplyPhase } from '../../render/messages/reply-message.ts';
import * as strings from '../../render/strings/index.ts';
import { waitForBackgroundWork } from '../replies/background-work.ts';
import { withSkippedFiles } from '../sending/file-notes.ts';
import { messageOfTurn } from '../sending/outgoing-message.ts';
import { findResentMessage } from '../sending/resent-message.ts';
import type { SettledReply } from './reply-follower.ts';
import type { TurnContext } from './turn-context.ts';
import { countTools, outcomeOfReply } from './turn-outcome.ts';

const ANSWERED_PHASES: ReadonlySet<ReplyPhase> = new Set(['done', 'length', 'background']);

/** Waits for the task of a settled reply, shows the reply's final state and records its outcome. */
export async function showSettledReply(
  context: TurnContext,
  { reply: settled, hasForwarded, endedWithTask }: SettledReply,
): Promise<void> {
  const { deps, state, turn, lease } = context;
  state.setFileNotes(withSkippedFiles(turn, settled.input?.fileIds ?? null));
  const { agent, taskId } = await context.task();
  const onWait = () => state.setStep('working', strings.backgroundWork);
  const { maxBackgroundWaitMs } = deps.settings;
  // After a forwarded message, the task works for that message's turn.
  const taskState =
    !hasForwarded &&
    (await context.withRetry(() => waitForBackgroundWork(agent, taskId, maxBackgroundWaitMs, lease, onWait)));
  const system = await context.withRetry(() => systemMessages(agent, taskId, settled));
  const stoppedBy = await context.stopRequester();
  const outcome = outcomeOfReply(settled, taskState === 'cancelled' && stoppedBy !== '');
  const phase = outcome === 'completed' ? (taskState === 'working' ? 'background' : 'done') : outcome;
  const notes = [...(await endNotes(context, phase)), ...system];
  if (endedWithTask && phase !== 'cancelled') notes.push(strings.answerNeverEnded);
  state.settle(settled, phase, notes, stoppedBy);
  await context.reply.showFinalText();
  if (turn.settled_at === null)
    await context.record({ settled_at: new Date(), outcome, tool_counts: countTools(settled) });
}

/** What the service said in the task beside the reply, after the message that the reply answers. */
async function systemMessages(agent: AgentClient, taskId: string, reply: AgentMessage): Promise<string[]> {
  const userMessageId = reply.input?.userMessageId ?? null;
  if (userMessageId === null) return [];
  const texts: string[] = [];
  for await (const message of agent.messagesAfter(taskId, userMessageId)) {
    if (message.role === 'system') texts.push(messageText(message));
  }
  return texts.filter((text) => text !== '');
}

/** The notes below the answer: that the thread has a new task, and, once in a channel, that a bot writes. */
async function endNotes({ deps, turn }: TurnContext, phase: ReplyPhase): Promise<string[]> {
  const { store } = deps;
  const resent = await findResentMessage(store, await messageOfTurn(deps, turn));
  const isMoved = resent !== undefined && resent.taskId !== null && resent.taskId !== turn.task_id;
  const showsIntroduction =
    ANSWERED_PHASES.has(phase) && (await store.oneTimeNotices.claimForTurn(turn, 'introduction'));
  return [
    ...(isMoved ? [strings.newConversation] : []),
    ...(showsIntroduction ? [strings.automatedNotice] : []),
  ];
}
