import * as strings from '../../render/strings/index.ts';
import type { Turn } from '../../store/schema.ts';
import { ThreadPosts } from '../replies/thread-posts.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import type { Lease } from '../runtime/lease.ts';

/**
 * Says in the thread, once for each channel and before its first task, that another organisation reads along. Throws a
 * SlackError where Slack is away and cannot tell whether one does.
 */
export async function postSharedChannelNotice(
  deps: RelayDeps,
  workspace: WorkspaceClient,
  turn: Turn,
  lease: Lease,
): Promise<void> {
  const channel = await workspace.people.requireChannel(turn.channel, lease.signal);
  if (channel.isExtShared !== true || !(await deps.store.oneTimeNotices.claimForTurn(turn, 'shared'))) return;
  const posts = new ThreadPosts(deps, workspace, turn, lease);
  await posts.load();
  await posts.post('notice:shared', { text: strings.sharedChannel }, '', 'notice');
}
