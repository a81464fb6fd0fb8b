import * as words from '../../reply/words.ts';
import type { Turn } from '../../store/tables.ts';
import type { RelayParts, Workspace } from '../context.ts';
import type { Lease } from '../lease.ts';
import { ThreadPosts } from '../showing/thread-posts.ts';

/**
 * Says in the thread, once for each channel and before its first task, that another organisation reads along. Throws a
 * SlackError where Slack is away and cannot tell whether one does.
 */
export async function tellShared(
  parts: RelayParts,
  workspace: Workspace,
  turn: Turn,
  lease: Lease,
): Promise<void> {
  const channel = await workspace.people.knownChannel(turn.channel, lease.signal);
  if (channel.isExtShared !== true || !(await parts.store.channels.tellsOnce(turn, 'shared'))) return;
  const posts = new ThreadPosts(parts, workspace, turn, lease);
  await posts.load();
  await posts.post('notice:shared', { text: words.sharedChannel }, '', 'notice');
}
