import * as strings from '../../render/strings/index.ts';
import { PLAN_WAIT } from '../../store/threads/person-waits.ts';
import { hasSettled } from '../../store/threads/turn-phase.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import type { PassOnListener } from '../controls/messages-during-a-run.ts';
import { buttonUse } from '../controls/used-button-note.ts';
import { markWaiting } from '../controls/waiting-reactions.ts';
import { stopRequesterName } from '../reading/display-names.ts';
import { findReply, type ReplyReader, type SettledReply } from '../replies/reply-reader.ts';
import { inBackground } from '../runtime/poller.ts';
import { TurnEnded } from '../runtime/turn-exceptions.ts';
import { withLeftOut } from '../sending/allowed-files.ts';
import { waitForBackgroundWork } from './background-work.ts';
import { type AskedMessage, isAnswerPhase, notesBelowAnswer } from './notes-below-answer.ts';
import type { TurnContext } from './turn-context.ts';
import { countTools, outcomeOfReply } from './turn-end.ts';

/** What is known of a reply before it is followed. */
export interface FollowedReply extends AskedMessage {
  replyId?: string | undefined;
}

/**
 * Follows a turn's reply until it or its task has settled, and meanwhile passes waiting messages on to a run
 * that pauses. Then shows the final state and records its outcome. Returns whether the task of an answer goes
 * on working. Throws TurnEnded if no reply is found.
 */
export async function followReply(
  context: TurnContext,
  { replyId, resendsTurnId, isFromForm }: FollowedReply,
): Promise<boolean> {
  const { deps, state } = context;
  if (await mayAskApproval(context))
    state.update({ plansFirst: true, buttonUse: await buttonUse(deps, context.turn) });
  const writerNames = new Set<string>();
  // If the message was sent again, the reply in its first turn says who asked: this reply names nobody.
  const showAskersUnlessResent = async () =>
    resendsTurnId === null ? nameAskers(context, writerNames) : undefined;
  const showAskersSoon = () =>
    inBackground(showAskersUnlessResent(), deps.log, 'could not name whose question a reply answers');
  showAskersSoon();
  const passingOn = context.allowPassingOn(passOnListener(context, writerNames, showAskersSoon));
  try {
    const reader = await findAndMakeReader(context, replyId);
    const settled = await context.withRetry(() => reader.readToEnd());
    // The service may have named another reply than the one that the reader found to be the message's.
    if (context.turn.assistant_message_id !== reader.replyId)
      await context.row.record({ assistant_message_id: reader.replyId });
    if (!settled.isReplySettled)
      deps.log.warn({ turn: context.turn.id }, 'a task settled before its reply did');
    await passingOn.stop();
    await context.withRetry(showAskersUnlessResent);
    const { hasPassedOn } = passingOn;
    return await showSettledReply(context, reader, { ...settled, hasPassedOn, resendsTurnId, isFromForm });
  } finally {
    await passingOn.stop();
  }
}

/** A listener that shows in the reply which messages its run gets; adds their writers' names to `names`. */
function passOnListener(context: TurnContext, names: Set<string>, showAskers: () => void): PassOnListener {
  const { deps, state } = context;
  // A message may come from a button that answers the plan: the reply then says who pressed it, passed on or not.
  const showPlanAnswerSoon = () =>
    inBackground(showPlanAnswer(context), deps.log, 'could not show who answered a plan');
  return {
    progress: () => state.progress,
    onPassedOn: (writer, notes, before) => {
      names.add(writer);
      state.onPassedOn(writer, notes, before);
      showAskers();
      showPlanAnswerSoon();
    },
    onRequeued: () => {
      state.update({ sentence: strings.messageWaits });
      markWaiting(deps, context.turn);
      showPlanAnswerSoon();
    },
  };
}

/** The reply's reader; the reply is found first, unless its id is known. Throws TurnEnded if there is none. */
async function findAndMakeReader(context: TurnContext, knownId: string | undefined): Promise<ReplyReader> {
  const message = await context.withRetry(() => context.answeredMessage());
  const replyId = knownId ?? (await context.withRetry(() => findReply(message)));
  if (replyId === undefined)
    throw new TurnEnded(context.stopSignal.aborted ? 'cancelled' : 'failed', strings.emptyAnswer);
  if (context.turn.phase === 'sent') await context.row.record({ assistant_message_id: replyId });
  return context.makeReader(message, replyId);
}

/** Shows who answered a plan with a button, and how. Does nothing if the reply is no plan. */
async function showPlanAnswer({ deps, turn, state }: TurnContext): Promise<void> {
  if (state.known.plansFirst) state.update({ buttonUse: await buttonUse(deps, turn) });
}

/** Whether the reply may be a plan to approve: its task began in plan mode, its message answers no plan. */
async function mayAskApproval({ deps, turn }: TurnContext): Promise<boolean> {
  if (!deps.settings.supportedTaskOptions.planMode) return false;
  if (!(await deps.store.threads.getOrThrow(turn)).plans_first) return false;
  const text = (await deps.store.messages.get(messageKeyOf(turn)))?.content?.text;
  return !Object.values(strings.planAnswers).some((answer) => answer === text);
}

/** Waits for a settled reply's task, shows and records the end. Returns whether an answer's task works on. */
async function showSettledReply(
  context: TurnContext,
  reader: ReplyReader,
  settled: SettledReply & AskedMessage & { hasPassedOn: boolean },
): Promise<boolean> {
  const { state, turn, deps } = context;
  const { plansFirst } = state.known;
  // A process that takes over a turn may find its end recorded.
  const isEndRecorded = hasSettled(turn);
  // The files that the service did not give to the agent count as skipped. null: the reply does not say.
  state.setFileNotes(withLeftOut(turn, settled.reply.input?.fileIds ?? null, 'skipped'));
  const { reply, outcome, stoppedBy, taskState, hasWorkedOn } = await finalOutcome(context, reader, settled);
  const phase = outcome === 'completed' ? 'done' : outcome;
  const isCancelledInBackground = hasWorkedOn && taskState === 'cancelled';
  const notes = await notesBelowAnswer(context, { ...settled, reply, phase, isCancelledInBackground });
  await context.withRetry(() => showPlanAnswer(context));
  const { task_model: model } = await context.withRetry(() => context.participantsAndModel());
  state.update({ model });
  const end = { settled_at: new Date(), outcome, tool_counts: countTools(reply) };
  // A plan's buttons work once its turn has settled: that is recorded before people see them.
  if (plansFirst && !isEndRecorded) await context.withRetry(() => context.row.record(end));
  state.settle(reply, phase, notes, stoppedBy);
  await context.reply.showFinalText();
  const isTaskWorking = taskState === 'working' && isAnswerPhase(phase);
  // A plan's wait for its answer begins now (0 ms ago). While its task still works, it does not wait yet.
  if (phase === 'done' && state.isOpenPlan && !isTaskWorking)
    await context.withRetry(() => deps.store.personWaits.begin(turn, PLAN_WAIT, 0, deps.settings.remindMs));
  // Until it is recorded, only this process knows that the turn is finishing.
  if (!plansFirst && !isEndRecorded) context.row.recordSoon(end, 'finishing');
  return isTaskWorking;
}

/**
 * Waits for a settled reply's task, unless the task has got another message, and tells how both ended. `taskState`
 * is undefined without a wait. `stoppedBy` names who stopped the reply, or is ''.
 */
async function finalOutcome(
  context: TurnContext,
  reader: ReplyReader,
  { reply: settledReply, hasPassedOn }: SettledReply & { hasPassedOn: boolean },
) {
  const isCompleted = outcomeOfReply(settledReply) === 'completed';
  // A task that has got another message works for that message's turn: nobody waits for it here.
  const { taskState, hasWorkedOn } = hasPassedOn
    ? { taskState: undefined, hasWorkedOn: false }
    : await context.withRetry(() => waitForBackgroundWork(context, isCompleted));
  const hasTaskFailed = taskState === 'failed';
  // By now the reply may tell why its task failed.
  const reply = hasTaskFailed ? await context.withRetry(() => reader.read()) : settledReply;
  const replyOutcome = outcomeOfReply(reply);
  const isCancelled = taskState === 'cancelled' || replyOutcome === 'cancelled';
  const stoppedBy = isCancelled ? await stopRequesterName(context.deps, context.turn) : '';
  // A task that no person stopped leaves a complete reply completed.
  const wasStopped = taskState === 'cancelled' && stoppedBy !== '';
  const taskOutcome: typeof replyOutcome = hasTaskFailed ? 'failed' : wasStopped ? 'cancelled' : 'completed';
  const outcome = replyOutcome === 'completed' ? taskOutcome : replyOutcome;
  return { reply, outcome, stoppedBy, taskState, hasWorkedOn };
}

/** Says whose questions the reply answers, if several people ask here; `writerNames`: who wrote during its run. */
async function nameAskers(context: TurnContext, writerNames: ReadonlySet<string>): Promise<void> {
  const { turn, workspace, state } = context;
  const { participant_ids: people } = await context.participantsAndModel();
  const hasOthers = people.some((person) => person !== turn.asked_by);
  if (!hasOthers && writerNames.size === 0) return;
  const asker = await workspace.people.personName(turn.asked_by);
  const names = [...new Set([asker, ...writerNames])];
  // If only the asker wrote during the run, too, there is nobody to tell apart.
  if (hasOthers || names.length > 1) state.update({ askers: strings.inAnswerTo(names) });
}
