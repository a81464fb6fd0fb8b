import { type BackgroundState, backgroundNotice } from '../../render/messages/button-notes.ts';
import type { TurnLocation } from '../../store/schema.ts';
import { BACKGROUND_PART, ENDED_BACKGROUND_PART } from '../../store/threads/posts.ts';
import { asRendered } from './fallback-forms.ts';
import { IdempotentPosts } from './idempotent-posts.ts';
import type { PostWork } from './unknown-post.ts';

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

/** Whether the work may still change its state. */
export function isOpen(state: BackgroundState): boolean {
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
