import type { ChannelActor } from '../runtime/actors.ts';
import type { RelayDeps } from '../runtime/deps.ts';

/**
 * Whether a person may attach a project to a channel. A project that channels use belongs to them: the person must be in
 * one of them, in this workspace. An unused project is free only if workspaces of different owners do not share its
 * account (`isSharedAccount`). Throws a SlackError where membership cannot be read.
 */
export async function mayUseProject(
  deps: RelayDeps,
  { workspace, person }: ChannelActor,
  projectId: string,
  isSharedAccount: (account: string) => boolean,
): Promise<boolean> {
  const channels = await deps.store.projects.channelsUsing(projectId);
  if (channels.length === 0) return !isSharedAccount(deps.accountOf(workspace));
  const membership = deps.workspace(workspace)?.membership;
  for (const { workspace: home, channel } of channels) {
    if (home === workspace && (await membership?.statusOf(channel, person)) === 'member') return true;
  }
  return false;
}
