import { valueIf } from '../../calls/retries-and-waits.ts';
import { type BackgroundState, backgroundNotice } from '../../render/messages/button-notes.ts';
import * as strings from '../../render/strings/index.ts';
import { isPermanentRefusal, MessageGoneError } from '../../slack/errors.ts';
import type { TurnLocation } from '../../store/schema.ts';
import type { CheckedTurn } from '../../store/tasks/tasks.ts';
import { BACKGROUND_PART, ENDED_BACKGROUND_PART } from '../../store/threads/posts.ts';
import { sendStop } from '../controls/stop-control.ts';
import { asRendered } from '../replies/fallback-forms.ts';
import { IdempotentPosts } from '../replies/idempotent-posts.ts';
import { isTaskSettled, SETTLED_TASK_SHORT_MS } from '../replies/reply-reader.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { sleepWithLease } from '../runtime/lease.ts';
import { isThreadUnreachable } from '../runtime/unreachable-threads.ts';
import { postBackgroundEndMention } from './end-mention.ts';
import type { TurnContext } from './turn-context.ts';

/** How often a task that still works in the background is checked (ms). */
const POLL_INTERVAL_MS = 2_000;

/**
 * Waits for the task of a settled reply to settle too: results and the next message wait for it. `working`: the
 * task has not settled after `maxBackgroundWaitMs`. `failed`: it failed after a complete reply (`isCompleted`).
 * After any other reply a failure counts as `finished`. `hasWorkedOn`: it was seen at work after its reply.
 */
export async function waitForBackgroundWork(
  context: TurnContext,
  isCompleted: boolean,
): Promise<{ taskState: 'working' | 'cancelled' | 'failed' | 'finished'; hasWorkedOn: boolean }> {
  const { deps, lease, state } = context;
  const { agent, taskId } = await context.task();
  let hasWorkedOn = false;
  const until = performance.now() + deps.settings.maxBackgroundWaitMs;
  let wasFailed = false;
  for (;;) {
    const { status } = await agent.getTask(taskId, { signal: lease.signal });
    if (status === 'failed' && isCompleted) {
      if (wasFailed) return { taskState: 'failed', hasWorkedOn };
      // The first status may still be that of the turn before.
      wasFailed = true;
      await sleepWithLease(SETTLED_TASK_SHORT_MS, lease);
      continue;
    }
    if (isTaskSettled(status))
      return { taskState: status === 'cancelled' ? 'cancelled' : 'finished', hasWorkedOn };
    wasFailed = false;
    hasWorkedOn = true;
    state.update({ phase: 'working', sentence: strings.backgroundWork });
    if (performance.now() >= until) return { taskState: 'working', hasWorkedOn };
    await sleepWithLease(POLL_INTERVAL_MS, lease);
  }
}

/** Says below a turn's answer that its task still works; a follow-up job changes the notice. */
export async function postBackgroundNotice(context: TurnContext): Promise<void> {
  // Each attempt has its own posts, so that Slack's faults do not add up to a refusal, which would end the turn.
  const posts = new IdempotentPosts(context, context.turn);
  await posts.post(BACKGROUND_PART, backgroundNotice(context.turn.id, 'working'), 'notice');
}

/**
 * Brings a thread's notices of background work up to date. `shown` is the state that the last turn's notice
 * shows so far. Whoever asked is told once that has ended. Returns how the last turn's work stands; undefined if it has
 * ended, or has no notice.
 */
export async function updateBackgroundNotices(
  work: ThreadWork,
  turn: CheckedTurn,
  { taskId, shown }: { taskId: string; shown: string },
): Promise<OpenState | undefined> {
  const isLast = (id: string) => id === turn.id && !turn.has_later_message;
  for (const id of turn.background_turn_ids.filter((one) => !isLast(one)))
    await showBackgroundState(work, { ...turn, id }, 'superseded');
  if (!turn.background_turn_ids.some(isLast)) return undefined;
  const state = await sendStopAndReadState(work, turn, taskId);
  if (!isOpen(state)) {
    const end = state === 'completed' ? 'workDone' : state === 'failed' ? 'workFailed' : state;
    // The line about the work changes also where Slack does not take this post.
    const isRefused = (error: unknown) => isThreadUnreachable(error) || isPermanentRefusal(error);
    await postBackgroundEndMention(work, turn, end).catch(valueIf(undefined, isRefused));
  }
  if (state !== shown) await showBackgroundState(work, turn, state);
  return isOpen(state) ? state : undefined;
}

/** Sends a stop that the service lacks, then reads how the turn's task stands: `completed` if it is idle. */
async function sendStopAndReadState({ deps, lease }: ThreadWork, turn: CheckedTurn, taskId: string) {
  const { signal } = lease;
  await deps.readRate(turn.account_id).acquire(lease);
  await sendStop(deps, turn, signal);
  const { status } = await deps.agent(turn.account_id).getTask(taskId, { signal });
  if (isTaskSettled(status)) return status === 'idle' ? 'completed' : status;
  return turn.stop_requested_at === null ? 'working' : 'stopping';
}

/** The states of work that may still change its state. */
export type OpenState = 'working' | 'stopping';

function isOpen(state: BackgroundState): state is OpenState {
  return state === 'working' || state === 'stopping';
}

/** Shows a state in a turn's notice. After a final one, checks no longer find it by its part. Throws a SlackError. */
export async function showBackgroundState(work: ThreadWork, turn: TurnLocation, state: BackgroundState) {
  const posts = new IdempotentPosts(work, turn);
  await posts.load();
  const update = posts.update(BACKGROUND_PART, backgroundNotice(turn.id, state), [asRendered]);
  // Somebody may have deleted the notice: the thread still gets the files and reviews that the checks find.
  await update.catch(valueIf(undefined, (error) => error instanceof MessageGoneError));
  if (!isOpen(state)) await posts.rename(BACKGROUND_PART, ENDED_BACKGROUND_PART);
}
