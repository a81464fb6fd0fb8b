import { type BackgroundState, backgroundNotice } from '../../render/messages/button-notes.ts';
import * as strings from '../../render/strings/index.ts';
import type { TurnLocation } from '../../store/schema.ts';
import { BACKGROUND_PART, ENDED_BACKGROUND_PART } from '../../store/threads/posts.ts';
import { asRendered } from '../replies/fallback-forms.ts';
import { IdempotentPosts, type PostWork } from '../replies/idempotent-posts.ts';
import { isTaskSettled, SETTLED_TASK_SHORT_MS } from '../replies/reply-finder.ts';
import { sleepWithLease } from '../runtime/outage-waits.ts';
import type { TurnContext } from './turn-context.ts';

/** How often a task that still works in the background is checked (ms). */
const POLL_INTERVAL_MS = 2_000;

/**
 * Waits until the task of a settled reply has settled too, for a limited time: results and the next message wait for it.
 * `isCompleted`: the reply is complete. `hasWorkedOn`: the task was seen at work after its reply.
 */
export async function waitForBackgroundWork(
  context: TurnContext,
  isCompleted: boolean,
): Promise<{ taskState: 'working' | 'cancelled' | 'failed' | 'finished'; hasWorkedOn: boolean }> {
  const { deps, lease, state } = context;
  const { agent, taskId } = await context.task();
  let hasWorkedOn = false;
  const until = performance.now() + deps.settings.maxBackgroundWaitMs;
  for (let wasFailed = false; ; ) {
    const { status } = await agent.getTask(taskId, { signal: lease.signal });
    if (status === 'failed' && isCompleted) {
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
    state.update({ phase: 'working', sentence: strings.backgroundWork });
    if (performance.now() >= until) return { taskState: 'working', hasWorkedOn };
    await sleepWithLease(POLL_INTERVAL_MS, lease);
  }
}

/** Says below a turn's answer that its task still works; `isWatched`: the notice will say how that ended. */
export async function postBackgroundNotice(
  work: PostWork,
  turn: TurnLocation,
  isWatched: boolean,
): Promise<void> {
  const [part, state] = isWatched
    ? ([BACKGROUND_PART, 'working'] as const)
    : ([ENDED_BACKGROUND_PART, 'unwatched'] as const);
  await new IdempotentPosts(work, turn).post(part, backgroundNotice(turn.id, state), 'notice');
}

/** The states of work that goes on. */
export type OpenState = 'working' | 'stopping';

/** Whether the work may still change its state. */
export function isOpen(state: BackgroundState): state is OpenState {
  return state === 'working' || state === 'stopping';
}

/** Brings a turn's notice to this state; one that has ended is not changed again. Throws a SlackError. */
export async function updateBackgroundNotice(
  work: PostWork,
  turn: TurnLocation,
  state: BackgroundState,
): Promise<void> {
  const posts = new IdempotentPosts(work, turn);
  await posts.load();
  await posts.update(BACKGROUND_PART, backgroundNotice(turn.id, state), [asRendered]);
  await posts.record();
  if (!isOpen(state)) await posts.rename(BACKGROUND_PART, ENDED_BACKGROUND_PART);
}
