import type { AgentClient } from '../../agent/agent-client.ts';
import { truncatedCopy } from '../../agent/content-blocks.ts';
import {
  AgentError,
  AgentNotFoundError,
  AgentRejectedError,
  undefinedIfNotFound,
} from '../../agent/errors.ts';
import { messageText, type Review } from '../../agent/service-schema.ts';
import type { ReplyPhase } from '../../render/messages/reply-message.ts';
import * as strings from '../../render/strings/index.ts';
import { messageKeyOf, turnLocationOf } from '../../store/threads/turns.ts';
import { buttonUse } from '../controls/continue-and-retry.ts';
import type { ReadReply } from '../replies/reply-blocks.ts';
import { isTaskSettled, SETTLED_TASK_SHORT_MS } from '../replies/reply-reader.ts';
import { inBackground } from '../runtime/poller.ts';
import { sleepWithLease } from '../runtime/retry.ts';
import { TurnEnded } from '../runtime/turn-interruptions.ts';
import { withSkippedFiles } from '../sending/file-refusals.ts';
import { ASKED_FOR, MidRunForwarding } from '../sending/mid-run-forwarding.ts';
import { findResentMessage, messageOfTurn } from '../sending/outgoing-message.ts';
import type { TurnContext } from './turn-context.ts';
import { countTools, outcomeOfReply } from './turn-end.ts';

/**
 * Follows a turn's reply until it has settled, and forwards the thread's waiting messages to a run that pauses; no forwarding
 * outlasts it. Then shows the reply's final state and records its outcome. Returns whether the task goes on working.
 * Throws TurnEnded if the task settles without a reply.
 */
export async function followReply(context: TurnContext): Promise<boolean> {
  const { deps, state, reply, stopSignal } = context;
  if (await mayAskApproval(context)) state.offerApproval(await buttonUse(deps, context.turn));
  const showPlanAnswer = () =>
    inBackground(showButtonUse(context), deps.log, 'could not show who answered a plan');
  const writers = new Set<string>();
  const showAskers = () => nameAskers(context, writers);
  inBackground(showAskers(), deps.log, 'could not name whose question a reply answers');
  const forwarding = new MidRunForwarding(context, turnLocationOf(context.turn), {
    stopSignal,
    onForwarded: (writer, notes) => {
      writers.add(writer);
      state.onForwarded(writer, notes);
      context.waitingReactions.cleanUp();
      showPlanAnswer();
    },
    onRequeued: () => {
      state.onRequeued();
      context.waitingReactions.addToWaiting(turnLocationOf(context.turn));
      showPlanAnswer();
    },
  });
  context.passOn = (isAsked) => {
    const pause = isAsked ? ASKED_FOR : state.pauseAfter(deps.settings.passOnMs);
    return pause !== undefined && forwarding.offer(pause);
  };
  const readToEnd = async () => {
    const reader = await context.createReader((read) => {
      if (reply.unreachable !== undefined) throw reply.unreachable;
      state.onRead(read, deps.settings);
      context.passOn(false);
    });
    reply.reader = reader;
    const found = await context.withRetry(() => reader.find(context.knownReplyId));
    if (found === undefined)
      throw new TurnEnded(stopSignal.aborted ? 'cancelled' : 'failed', strings.emptyAnswer);
    if (context.turn.assistant_message_id === null) await context.record({ assistant_message_id: found });
    const settled = await context.withRetry(async () => {
      const read = await undefinedIfNotFound(() => reader.readToEnd());
      if (read !== undefined) return read;
      const elsewhere = await reader.findElsewhere();
      if (elsewhere !== undefined) await context.record({ assistant_message_id: elsewhere });
      return reader.readToEnd();
    });
    if (reader.endedWithTask) deps.log.warn({ turn: context.turn.id }, 'a task settled without its reply');
    return { reply: settled, endedWithTask: reader.endedWithTask, readAgain: () => reader.read() };
  };
  try {
    const settled = await readToEnd();
    await forwarding.stop();
    await context.withRetry(showAskers);
    return await showSettledReply(context, { ...settled, hasForwarded: forwarding.forwardedCount > 0 });
  } finally {
    await forwarding.stop();
  }
}

/** Names whose questions the reply answers, in a thread where several people ask; `writers` wrote during its run. */
async function nameAskers(context: TurnContext, writers: ReadonlySet<string>): Promise<void> {
  // The reply before says who tried again.
  if (context.resendsTurnId != null) return;
  const hasOthers = await context.hasOtherParticipants();
  if (!hasOthers && writers.size === 0) return;
  const asker = await context.workspace.people.personName(context.turn.asked_by);
  const names = [...new Set([asker, ...writers])];
  if (hasOthers || names.length > 1) context.state.setAskers(names);
}

/** Shows who answered a plan with a button: then the buttons leave. */
async function showButtonUse({ deps, turn, state }: TurnContext): Promise<void> {
  if (state.offersApproval) state.offerApproval(await buttonUse(deps, turn));
}

/** Whether the reply may be a plan that waits for approval: its task began in plan mode, and its message is no such approval. */
async function mayAskApproval({ deps, turn }: TurnContext): Promise<boolean> {
  if (!deps.settings.supportedTaskOptions.planMode) return false;
  const { plans_first: plansFirst } = await deps.store.threads.getOrThrow(turn);
  if (!plansFirst) return false;
  const text = (await deps.store.messages.get(messageKeyOf(turn)))?.content?.text;
  return !Object.values(strings.planAnswers).some((answer) => answer === text);
}

const ANSWERED_PHASES: ReadonlySet<ReplyPhase> = new Set(['done', 'length']);

interface SettledReply {
  reply: ReadReply;
  /** Another message was forwarded to its run. */
  hasForwarded: boolean;
  /** Only the task has settled, and the reply may be incomplete. */
  endedWithTask: boolean;
  readAgain(): Promise<ReadReply>;
}

/** Waits for the task of a settled reply, shows the reply's final state and records its outcome. Returns whether the task goes on working. */
async function showSettledReply(context: TurnContext, settled: SettledReply): Promise<boolean> {
  const { state, turn } = context;
  const { hasForwarded, endedWithTask } = settled;
  let { reply } = settled;
  state.setFileNotes(withSkippedFiles(turn, reply.input?.fileIds ?? null));
  const { agent, taskId } = await context.task();
  // After a forwarded message, the task works for that message's turn.
  const { taskState, hasWorkedOn } = hasForwarded
    ? { taskState: undefined, hasWorkedOn: false }
    : await context.withRetry(() => waitForBackgroundWork(context, agent, taskId, reply));
  // A task may fail after its reply was complete; then the reply tells why, if anything does.
  if (taskState === 'failed') reply = await context.withRetry(() => settled.readAgain());
  const system = await systemMessages(context, agent, taskId);
  const isCancelled = taskState === 'cancelled' || outcomeOfReply(reply) === 'cancelled';
  const stoppedBy = isCancelled ? await context.stopRequester() : '';
  const replyOutcome = outcomeOfReply(reply, taskState === 'cancelled' && stoppedBy !== '');
  const outcome = taskState === 'failed' && replyOutcome === 'completed' ? 'failed' : replyOutcome;
  const phase = outcome === 'completed' ? 'done' : outcome;
  const notes = [...(await endNotes(context, phase)), ...system];
  if (endedWithTask && phase !== 'cancelled') notes.push(strings.answerNeverEnded);
  if (hasWorkedOn && taskState === 'cancelled' && phase === 'done')
    notes.push(strings.backgroundNotices.cancelled);
  if (ANSWERED_PHASES.has(phase) && context.stopSignal.aborted) notes.push(strings.finishedUnstopped);
  await context.withRetry(() => showButtonUse(context));
  state.settle(reply, phase, notes, stoppedBy);
  await context.reply.showFinalText();
  if (turn.settled_at === null)
    context.recordSoon({ settled_at: new Date(), outcome, tool_counts: countTools(reply) });
  return taskState === 'working' && ANSWERED_PHASES.has(phase);
}

/** Characters of all notes below the answer: more than a message shows. */
const MAX_NOTES_LENGTH = 10_000;

/**
 * What the service said in the task beside the reply, after the turn's message. Nothing where the service refuses to say
 * it: the reply is complete without.
 */
async function systemMessages(context: TurnContext, agent: AgentClient, taskId: string): Promise<string[]> {
  const { deps, lease, turn } = context;
  try {
    return await context.withRetry(async () => {
      try {
        return await readSystemMessages(context, agent, taskId);
      } catch (error) {
        if (error instanceof AgentNotFoundError || error instanceof AgentRejectedError) return [];
        throw error;
      }
    });
  } catch (error) {
    if (!(error instanceof AgentError) || lease.remainingMs() <= 0) throw error;
    deps.log.warn({ err: error, turn: turn.id }, 'could not read the notes below an answer');
    return [];
  }
}

async function readSystemMessages(
  { lease: { signal }, turn }: TurnContext,
  agent: AgentClient,
  taskId: string,
): Promise<string[]> {
  const texts: string[] = [];
  let room = MAX_NOTES_LENGTH;
  let reviews: readonly Review[] | undefined;
  for await (const message of agent.messagesAfter(taskId, turn.user_message_id, { signal })) {
    if (message.role !== 'system') continue;
    // The findings of a review are posted by themselves.
    reviews ??= (await agent.getTask(taskId, { signal })).reviews;
    if (reviews.some(({ messageId }) => messageId === message.id)) continue;
    const text = truncatedCopy(messageText(message), room);
    room -= text.length;
    if (text !== '') texts.push(text);
  }
  return texts;
}

/** The notes below the answer: that the thread has a new task, and, once in a channel, that a bot writes. */
async function endNotes(context: TurnContext, phase: ReplyPhase): Promise<string[]> {
  const { deps, turn } = context;
  const { store } = deps;
  const { workspace } = turn;
  const resends_turn_id =
    context.resendsTurnId === undefined
      ? (await messageOfTurn(deps, turn)).resends_turn_id
      : context.resendsTurnId;
  const resent = await findResentMessage(store, { workspace, resends_turn_id });
  const isMoved = resent !== undefined && resent.taskId !== null && resent.taskId !== turn.task_id;
  const showsIntroduction =
    ANSWERED_PHASES.has(phase) && (await store.channels.claimNotice(turn, 'introduction'));
  return [
    ...(turn.quotation_length > 0 ? [strings.conversationQuoted] : isMoved ? [strings.newConversation] : []),
    ...(showsIntroduction ? [strings.automatedNotice] : []),
  ];
}

/** How often a task that still works in the background is checked (ms). */
const BACKGROUND_POLL_INTERVAL_MS = 2_000;

/**
 * Waits until the task of a settled reply has settled too, for a limited time: results and the next message wait for it.
 * `hasWorkedOn`: the task was seen at work after its reply.
 */
async function waitForBackgroundWork(
  { deps, lease, state }: TurnContext,
  agent: AgentClient,
  taskId: string,
  reply: ReadReply,
): Promise<{ taskState: 'working' | 'cancelled' | 'failed' | 'finished'; hasWorkedOn: boolean }> {
  let hasWorkedOn = false;
  const until = performance.now() + deps.settings.maxBackgroundWaitMs;
  for (let wasFailed = false; ; ) {
    const { status } = await agent.getTask(taskId, { signal: lease.signal });
    if (status === 'failed' && outcomeOfReply(reply) === 'completed') {
      if (wasFailed) return { taskState: 'failed', hasWorkedOn };
      // The status may lag behind the reply, and be that of the turn before.
      wasFailed = true;
      await sleepWithLease(SETTLED_TASK_SHORT_MS, lease);
      continue;
    }
    if (isTaskSettled(status))
      return { taskState: status === 'cancelled' ? 'cancelled' : 'finished', hasWorkedOn };
    wasFailed = false;
    hasWorkedOn = true;
    state.setStep('working', strings.backgroundWork);
    if (performance.now() >= until) return { taskState: 'working', hasWorkedOn };
    await sleepWithLease(BACKGROUND_POLL_INTERVAL_MS, lease);
  }
}
