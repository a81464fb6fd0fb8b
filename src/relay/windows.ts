import * as words from '../reply/words.ts';
import type { RelayParts, Workspace } from './context.ts';

/** Where a window is to open. */
export interface WindowPlace {
  workspace: string;
  /** Lives 3 s. */
  triggerId: string;
}

/** What a window shows with one sentence, and which one where it cannot be filled. */
export interface WindowWords {
  notice: (sentence: string) => object;
  failed: string;
}

/** What became of the wish to see a window: `late` where Slack opens it no more, `unknown` where we are not there. */
export type Opened = 'done' | 'late' | 'unknown';

/**
 * Opens a window at once, because a trigger lives 3 s, and fills it after; whether somebody may see it is decided
 * there. Where `fill` throws, the window says so, and the log why. Throws a SlackError.
 */
export async function openAndFill(
  parts: Pick<RelayParts, 'workspace' | 'log'>,
  { workspace: id, triggerId }: WindowPlace,
  { notice, failed }: WindowWords,
  fill: (workspace: Workspace) => Promise<object>,
): Promise<Opened> {
  const workspace = parts.workspace(id);
  if (workspace === undefined) return 'unknown';
  const viewId = await workspace.views.open(triggerId, notice(words.loading));
  if (viewId === undefined) return 'late';
  try {
    await workspace.views.update(viewId, await fill(workspace));
  } catch (error) {
    parts.log.warn({ workspace: id, err: error }, 'a window could not be filled');
    await workspace.views.update(viewId, notice(failed));
  }
  return 'done';
}
