import type { Logger } from 'pino';
import type { Views } from '../slack/views.ts';

/** What a window shows before it is filled, and where it cannot be. */
export interface WindowStates {
  loading: object;
  failed: object;
}

/**
 * Opens a window at once, because a trigger lives 3 s, and fills it after; whether somebody may see it is decided
 * there. `late` where Slack opens it no more. Throws a SlackError, or what `fill` throws; the window says so then.
 */
export async function openAndFill(
  { views, log }: { views: Pick<Views, 'open' | 'update'>; log: Logger },
  triggerId: string,
  { loading, failed }: WindowStates,
  fill: () => Promise<object>,
): Promise<'done' | 'late'> {
  const viewId = await views.open(triggerId, loading);
  if (viewId === undefined) return 'late';
  try {
    await views.update(viewId, await fill());
  } catch (error) {
    await views.update(viewId, failed).catch((again: unknown) => {
      log.debug({ err: again }, 'a window that could not be filled is left as it is');
    });
    throw error;
  }
  return 'done';
}
