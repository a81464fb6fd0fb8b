import { truncatedCopy } from '../../agent/content-blocks.ts';
import { AgentError, AgentNotFoundError, AgentRejectedError } from '../../agent/errors.ts';
import { messageText, type Review } from '../../agent/service-schema.ts';
import { valueIf } from '../../calls/retries-and-waits.ts';
import type { ReplyPhase } from '../../render/messages/reply-message.ts';
import * as strings from '../../render/strings/index.ts';
import { SlackError } from '../../slack/errors.ts';
import type { SettledReply } from '../replies/reply-reader.ts';
import { resentTurn } from '../sending/resent-message.ts';
import { compareWithEarlier } from './answer-comparison.ts';
import type { TurnContext } from './turn-context.ts';

/** Characters of all that the service wrote below the answer, together: more than a message shows. */
const MAX_NOTES_LENGTH = 10_000;

/** What is known of the message that a reply answers. */
export interface AskedMessage {
  /** The turn whose content it sends again. */
  resendsTurnId: string | null;
  /** It came from a form, which may ask the question of an earlier thread again. */
  isFromForm: boolean;
}

interface AnswerEnd extends SettledReply, AskedMessage {
  phase: ReplyPhase;
  /** The task was stopped while it worked on in the background. */
  isCancelledInBackground: boolean;
}

/** Whether a reply that ended in this phase is an answer: a whole one, or one cut off at its length limit. */
export function isAnswerPhase(phase: ReplyPhase): boolean {
  return phase === 'done' || phase === 'length';
}

/** The notes that stand below a reply once nothing more is expected of it, each a sentence or more. */
export async function notesBelowAnswer(
  context: TurnContext,
  { reply, phase, isReplySettled, resendsTurnId, isFromForm, isCancelledInBackground }: AnswerEnd,
): Promise<string[]> {
  const { deps, turn } = context;
  const isAnswer = isAnswerPhase(phase);
  const isComparable = isFromForm && phase === 'done';
  const notes = isComparable ? await readOptional(context, () => compareWithEarlier(context, reply)) : [];
  notes.push(...(await otherTaskNote(context, resendsTurnId)));
  // A channel's first answer introduces the bot; the note counts as posted from then on.
  const isFirst = isAnswer && (await deps.store.channels.claimNotice(turn, 'introduction'));
  if (isFirst) notes.push(strings.automatedNotice);
  notes.push(...(await readOptional(context, () => readSystemMessages(context))));
  // Nobody expects more of an answer that was stopped.
  if (!isReplySettled && phase !== 'cancelled') notes.push(strings.answerNeverEnded);
  // If a person stopped the task, the phase is `cancelled`, and the reply says who.
  if (isCancelledInBackground && phase === 'done') notes.push(strings.backgroundNotices.cancelled);
  if (isAnswer && context.stopSignal.aborted) notes.push(strings.finishedUnstopped);
  return notes;
}

/** Says if the thread goes on in a new conversation, and whether that quotes what was said before. Else []. */
async function otherTaskNote({ deps, turn }: TurnContext, resends_turn_id: string | null): Promise<string[]> {
  // `quotation_length` counts only what was said in former tasks, not quoted earlier or linked messages.
  if (turn.quotation_length > 0) return [strings.conversationQuoted];
  // A thread leaves a task that people did not delete only after **Try again**: the repeated turn was in that task.
  const resent = await resentTurn(deps.store, { workspace: turn.workspace, resends_turn_id });
  const formerTask = resent?.task_id ?? turn.task_id;
  return formerTask === turn.task_id ? [] : [strings.newConversation];
}

/** Reads notes that an answer can do without: [] if Slack fails, or the service refuses or keeps failing. */
async function readOptional(context: TurnContext, read: () => Promise<string[]>): Promise<string[]> {
  const { deps, lease, turn } = context;
  const isRefused = (error: unknown) =>
    error instanceof AgentNotFoundError || error instanceof AgentRejectedError || error instanceof SlackError;
  try {
    return await context.withRetry(() => read().catch(valueIf([], isRefused)));
  } catch (error) {
    if (!(error instanceof AgentError) || lease.remainingMs() <= 0) throw error;
    deps.log.warn({ err: error, turn: turn.id }, 'could not read the notes below an answer');
    return [];
  }
}

/** What the service itself wrote below the answer. Reviews are left out: they are posted by themselves. */
async function readSystemMessages(context: TurnContext): Promise<string[]> {
  const { agent, taskId, turn, lease } = await context.task();
  const { signal } = lease;
  const texts: string[] = [];
  let room = MAX_NOTES_LENGTH;
  let reviews: readonly Review[] | undefined;
  for await (const message of agent.messagesAfter(taskId, turn.user_message_id, { signal })) {
    if (message.role !== 'system') continue;
    reviews ??= (await agent.getTask(taskId, { signal })).reviews;
    if (reviews.some(({ messageId }) => messageId === message.id)) continue;
    const text = truncatedCopy(messageText(message), room);
    room -= text.length;
    if (text !== '') texts.push(text);
  }
  return texts;
}
