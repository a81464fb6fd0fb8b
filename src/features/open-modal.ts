import type { RelayDeps, WorkspaceClient } from '../relay/runtime/deps.ts';
import * as strings from '../render/strings/index.ts';

/** Where a window is to open. */
export interface ModalTrigger {
  workspace: string;
  /** Lives 3 s. */
  triggerId: string;
}

/** What a window shows with one sentence, and which one where it cannot be filled. */
export interface ModalStrings {
  notice: (sentence: string) => object;
  failed: string;
}

/** What became of the wish to see a window: `late` where Slack opens it no more, `unknown` where we are not there. */
export type ModalOutcome = 'done' | 'late' | 'unknown';

/**
 * Opens a window at once, because a trigger lives 3 s, and fills it after; whether somebody may see it is decided
 * there. Where `fill` throws, the window says so, and the log why. Throws a SlackError.
 */
export async function openAndFillModal(
  deps: Pick<RelayDeps, 'workspace' | 'log'>,
  { workspace: id, triggerId }: ModalTrigger,
  { notice, failed }: ModalStrings,
  fill: (workspace: WorkspaceClient) => Promise<object>,
): Promise<ModalOutcome> {
  const workspace = deps.workspace(id);
  if (workspace === undefined) return 'unknown';
  const viewId = await workspace.views.open(triggerId, notice(strings.loading));
  if (viewId === undefined) return 'late';
  try {
    await workspace.views.update(viewId, await fill(workspace));
  } catch (error) {
    deps.log.warn({ workspace: id, err: error }, 'a window could not be filled');
    await workspace.views.update(viewId, notice(failed));
  }
  return 'done';
}
