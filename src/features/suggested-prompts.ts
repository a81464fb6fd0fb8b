import { closingAt } from '../relay/access/access-policy.ts';
import type { RelayDeps } from '../relay/runtime/deps.ts';
import { isDirectChannel } from '../relay/runtime/incoming-message.ts';
import { inBackground } from '../relay/runtime/poller.ts';
import * as strings from '../render/strings/index.ts';
import { shorten } from '../render/text-format.ts';
import type { ThreadKey } from '../store/schema.ts';

/** Characters of a title (https://docs.slack.dev/reference/methods/agents.sessions.rename). */
const MAX_TITLE_CHARACTERS = 200;

/** Suggests prompts to a person who opens their direct messages with an app that Slack lists as an agent. Throws a SlackError. */
export async function suggestPrompts(
  deps: Pick<RelayDeps, 'store' | 'settings' | 'workspace'>,
  workspace: string,
  channel: string,
): Promise<void> {
  if ((await closingAt(deps, { workspace, channel })) !== undefined) return;
  const { title, list } = strings.prompts;
  await deps.workspace(workspace)?.sessions?.setSuggestedPrompts(channel, title, list);
}

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
