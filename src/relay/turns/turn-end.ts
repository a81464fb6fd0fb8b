import {
  AgentError,
  AgentNotFoundError,
  AgentRejectedError,
  isForbidden,
  isTooLarge,
} from '../../agent/errors.ts';
import { valueIf } from '../../calls/retries-and-waits.ts';
import { noteWithButtons } from '../../render/messages/button-notes.ts';
import * as strings from '../../render/strings/index.ts';
import { PayloadRefusedError } from '../../slack/errors.ts';
import type { TurnOutcome } from '../../store/schema.ts';
import { SOURCES_PART } from '../../store/threads/posts.ts';
import { isAtService } from '../../store/threads/turn-phase.ts';
import type { LastStep } from '../../store/threads/turn-steps.ts';
import { postPausedNoticeAndFinish } from '../controls/paused-messages.ts';
import { AccountGone } from '../installations/service-accounts.ts';
import { stopRequesterName } from '../reading/display-names.ts';
import { asRendered, textOnly } from '../replies/fallback-forms.ts';
import type { ReadReply } from '../replies/reply-blocks.ts';
import { postResults } from '../replies/result-posts.ts';
import { TurnEnded } from '../runtime/turn-exceptions.ts';
import { ThreadGivenUp } from '../runtime/unreachable-threads.ts';
import { closeIfUnchanged, closeMessage, requeueMessage } from '../sending/unsent-message.ts';
import { postBackgroundNotice } from './background-work.ts';
import { postEndMention } from './end-mention.ts';
import { cancelRunInDoubt } from './run-cancellation.ts';
import type { TurnContext } from './turn-context.ts';

/** Ends a turn whose reply has settled: posts results, tells its asker, and says if its task works on. */
export async function endSettledTurn(context: TurnContext, isTaskWorking: boolean): Promise<void> {
  const { reply, state } = context;
  const checksSources = await postSourceList(context);
  const figures = state.figurePaths();
  const wereResultsPosted = context.turn.results_posted_at !== null;
  // Which figures stand in the answer is not recorded: a process that takes over finds that out again.
  const mustPost = !wereResultsPosted || figures.length > 0;
  const hasResults = mustPost && (await postResultsOfTurn(context, figures));
  if (!wereResultsPosted) {
    await postEndMention(context, context.turn.outcome, { hasResults });
    context.row.recordSoon({ results_posted_at: new Date() });
  }
  await reply.finalize();
  // Slack has refused the answer's pictures: they go among the results below it.
  if (reply.posts.hasLostPictures) {
    await postResultsOfTurn(context, []);
    state.showFiguresBelow();
    await reply.finalize();
  }
  if (isTaskWorking) await context.withRetry(() => postBackgroundNotice(context));
  const { watchIntervalMs: firstCheckMs } = context.deps.settings;
  await closeTurn(context, 'completed', { firstCheckMs, checksSources });
}

/** Ends a turn before its reply has settled; the thread shows why. An edited message may wait again instead. */
export async function endEarly(context: TurnContext, error: unknown): Promise<void> {
  const { deps, turn, reply, state } = context;
  const { task_id } = await context.thread();
  const atService = { task: task_id !== null, message: isAtService(turn) };
  const { outcome, offer, ...end } = outcomeOfError(error, atService);
  const stopSentence = async () => strings.stopped(await stopRequesterName(deps, turn));
  const sentence = outcome === 'cancelled' ? await stopSentence() : end.sentence;
  if (outcome === 'refused' || outcome === 'abandoned')
    deps.log.error({ err: error, turn: turn.id }, 'an error ended the turn');
  await cancelRunInDoubt(context, (step) => context.withRetry(step));
  // A message of which nothing is sent is closed below, once the thread says why, unless it was edited meanwhile.
  const unsendableMessage = error instanceof TurnEnded ? error.more.unsendableMessage : undefined;
  // Any other is closed before the thread offers **Try again**: a process that takes over must not send it, too.
  if (unsendableMessage === undefined) await closeMessage(deps, turn);
  if (sentence === null) {
    await context.withRetry(() => reply.remove());
  } else {
    state.endEarly(outcome, sentence, offer);
    await context.openReply();
    await reply.showFinalText();
    await reply.finalize();
  }
  const fate =
    unsendableMessage === undefined ? 'closed' : await closeIfUnchanged(deps, turn, unsendableMessage);
  if (fate === 'changed') {
    // A message that was edited meanwhile waits again, without the reply about its old words.
    await context.withRetry(() => requeueMessage(deps, turn, reply));
    return;
  }
  // Whoever deleted the message expects no reply.
  if (fate === 'withdrawn') await context.withRetry(() => reply.remove());
  // Who sent only files or a mention has asked nothing; whoever deleted the message expects no answer.
  if (unsendableMessage === undefined && sentence !== null)
    await postEndMention(context, outcome, { hasResults: false }).catch(valueIf(undefined, isPostGivenUp));
  await closeTurn(context, fate === 'withdrawn' ? fate : outcome);
}

/** Finishes a turn that has nothing left to show, and adds the jobs that come `later`. */
export async function closeTurn(
  context: TurnContext,
  outcome: TurnOutcome,
  later: Pick<LastStep, 'firstCheckMs' | 'checksSources'> = {},
): Promise<void> {
  const { deps, turn, reply, job } = context;
  await reply.close();
  const onJobDone = () => {
    context.isJobDone = true;
  };
  await context.withRetry(() => {
    // A transaction may end the job, and fail later: then the job goes on.
    context.isJobDone = false;
    return context.row.write((rest) => {
      const last = { ...rest, ...later, job, onJobDone };
      return postPausedNoticeAndFinish(deps, reply.posts, turn, { outcome, last });
    });
  });
}

/** Posts the list of sources that registries are asked about later; returns whether the thread has one. */
async function postSourceList(context: TurnContext): Promise<boolean> {
  const list = context.state.sourceList();
  if (list === undefined) return false;
  try {
    await context.withRetry(() => context.reply.posts.post(SOURCES_PART, list, 'result'));
    return true;
  } catch (error) {
    if (!isPostGivenUp(error)) throw error;
    // Without a message of its own, the list stands at the end of the answer.
    context.state.update({ checksSources: false });
    return false;
  }
}

/**
 * Posts the results, and shows those that `figures` name in their places in the answer. If that fails, a notice
 * says so, and follow-up jobs post the results. Returns whether results, or the notice, stand below the answer.
 */
async function postResultsOfTurn(context: TurnContext, figures: readonly string[]): Promise<boolean> {
  const { deps, turn, lease, state } = context;
  const settled = await context.task();
  try {
    return await context.withRetry(async () => {
      const { count, placed } = await postResults(settled, state.answer, figures);
      if (figures.length > 0) state.update({ figures: placed });
      return count > 0;
    });
  } catch (error) {
    const isAboutResults = error instanceof AgentError || isPostGivenUp(error);
    if (!isAboutResults || lease.signal.aborted) throw error;
    deps.log.error({ err: error, turn: turn.id }, 'the results of a turn cannot be read or posted');
    await postUnreadResultsNotice(context);
    return true;
  }
}

async function postUnreadResultsNotice(context: TurnContext): Promise<void> {
  const message = noteWithButtons(strings.resultsUnavailable, ['fresh_links'], context.turn.id);
  const post = () => context.reply.posts.post('unread', message, 'notice', [asRendered, textOnly]);
  await context.withRetry(post).catch(valueIf(undefined, isPostGivenUp));
}

/** Whether Slack refuses a post, or kept failing at it for too long: the end of the turn goes on without it. */
function isPostGivenUp(error: unknown): boolean {
  return error instanceof PayloadRefusedError || error instanceof ThreadGivenUp;
}

const MAX_AUDITED_TOOLS = 50;

/** How often the agent used each tool for a reply; beyond the first 50, tools count as "others". */
export function countTools({ blocks }: Pick<ReadReply, 'blocks'>): Record<string, number> {
  const tools = new Map<string, number>();
  for (const block of blocks) {
    if (block.kind !== 'tool_use') continue;
    const name = tools.has(block.name) || tools.size < MAX_AUDITED_TOOLS ? block.name : 'others';
    tools.set(name, (tools.get(name) ?? 0) + 1);
  }
  return Object.fromEntries(tools);
}

/** What the service has of a turn: its thread's task, and its message. */
type StateAtService = { task: boolean; message: boolean };

/** How a permanent error ends a turn, and its `sentence`, if it has one. After a stop, the thread says who stopped the turn. */
export function outcomeOfError(
  error: unknown,
  atService: StateAtService,
): { outcome: TurnOutcome; sentence: string | null; offer?: 'choose' | undefined } {
  if (error instanceof TurnEnded)
    return { outcome: error.outcome, sentence: error.sentence, offer: error.more.offer };
  if (error instanceof AccountGone) return { outcome: 'refused', sentence: strings.accountChanged };
  if (error instanceof AgentError) return { outcome: 'refused', sentence: failureSentence(error, atService) };
  if (error instanceof PayloadRefusedError) return { outcome: 'abandoned', sentence: strings.answerRefused };
  // Slack has failed for too long, or nobody foresaw the error.
  return { outcome: 'abandoned', sentence: strings.retriesExhausted };
}

/** What the thread says about the service's error: its own words only if it gave a reason for a refusal. */
function failureSentence(error: AgentError, atService: StateAtService): string {
  if (error instanceof AgentNotFoundError && atService.task) return strings.taskNotFound;
  if (isForbidden(error) && atService.task) return strings.taskForbidden;
  if (error.unreadCreation !== undefined) return strings.serviceUnreadable;
  const saysNothing = error.code === 'not_understood' || error.code === 'unavailable';
  // If the call was the one that sends the message, the task may have got it.
  if (saysNothing && atService.task && !atService.message) return strings.retriesExhausted;
  const serviceMessage = error instanceof AgentRejectedError ? error.reason : undefined;
  // The message was sent: it is the answer that cannot be read.
  if (atService.message)
    return isTooLarge(error) ? strings.answerTooLarge : strings.answerUnreadable(serviceMessage ?? '');
  return serviceMessage === undefined ? strings.serviceFailed : strings.messageRejected(serviceMessage);
}

/** A settled reply's outcome, whatever its task does in the background. */
export function outcomeOfReply(
  reply: Pick<ReadReply, 'status' | 'stopReason' | 'error'>,
): 'completed' | 'cancelled' | 'failed' | 'length' {
  if (reply.status === 'cancelled' || reply.stopReason === 'cancelled') return 'cancelled';
  if (reply.status === 'failed' || reply.stopReason === 'error' || reply.error !== null) return 'failed';
  return reply.stopReason === 'length' ? 'length' : 'completed';
}
