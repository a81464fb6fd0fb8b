import type { RelayDeps } from '../relay/runtime/deps.ts';
import { isDirectChannel } from '../relay/runtime/incoming-message.ts';
import { inBackground } from '../relay/runtime/poller.ts';
import { shorten } from '../render/text-format.ts';
import type { ThreadKey } from '../store/schema.ts';

/** Characters of a title (https://docs.slack.dev/reference/methods/agents.sessions.rename). */
const MAX_TITLE_CHARACTERS = 200;

/** Has Slack show the title of a task that was started in a direct message. Returns at once; never throws. */
export function showTaskTitle(
  deps: Pick<RelayDeps, 'workspace' | 'log'>,
  { workspace, channel, thread_ts }: ThreadKey,
  title: string,
): void {
  const sessions = isDirectChannel(channel) ? deps.workspace(workspace)?.sessions : undefined;
  if (sessions === undefined) return;
  const work = sessions.setTitle(channel, thread_ts, shorten(title, MAX_TITLE_CHARACTERS));
  inBackground(work, deps.log, 'could not set the title of a direct message thread');
}
