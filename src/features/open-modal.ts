import type { RelayDeps, WorkspaceClient } from '../relay/runtime/deps.ts';
import * as strings from '../render/strings/index.ts';

/** Where a modal opens. */
export interface ModalTrigger {
  workspace: string;
  /** Slack's; expires after 3 s. */
  triggerId: string;
}

/** `late`: the trigger has expired; `unknown`: the app is not installed there. */
export type ModalOutcome = 'done' | 'late' | 'unknown';

/**
 * Opens a modal at once, before the trigger expires, and then shows the view of `fill`, which also checks permission. If
 * `fill` throws, the modal shows `failed`. `notice` renders a modal with one sentence. Throws a SlackError.
 */
export async function openAndFillModal(
  deps: Pick<RelayDeps, 'workspace' | 'log'>,
  { workspace: id, triggerId }: ModalTrigger,
  notice: (sentence: string) => object,
  failed: string,
  fill: (workspace: WorkspaceClient) => Promise<object>,
): Promise<ModalOutcome> {
  const workspace = deps.workspace(id);
  if (workspace === undefined) return 'unknown';
  const viewId = await workspace.views.open(triggerId, notice(strings.loading));
  if (viewId === undefined) return 'late';
  try {
    await workspace.views.update(viewId, await fill(workspace));
  } catch (error) {
    deps.log.warn({ workspace: id, err: error }, 'could not fill a modal');
    await workspace.views.update(viewId, notice(failed));
  }
  return 'done';
}
