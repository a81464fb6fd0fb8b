import * as strings from '../../render/strings/index.ts';
import type { Turn } from '../../store/schema.ts';
import { ThreadPosts } from '../replies/thread-posts.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import type { Lease } from '../runtime/lease.ts';

/**
 * Posts, once for each channel and before its first task, that another organisation can read the channel. Throws a
 * SlackError where Slack cannot say whether one can.
 */
export async function postSharedChannelNotice(
  deps: RelayDeps,
  workspace: WorkspaceClient,
  turn: Turn,
  lease: Lease,
): Promise<void> {
  const channel = await workspace.people.requireChannel(turn.channel, lease.signal);
  if (channel.isExtShared !== true || !(await deps.store.oneTimeNotices.claimForTurn(turn, 'shared'))) return;
  await new ThreadPosts(deps, workspace, turn, lease).postNotice('notice:shared', strings.sharedChannel);
}
