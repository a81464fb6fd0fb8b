import { within } from '../../calls/waits.ts';
import * as strings from '../../render/strings/index.ts';
import { SlackError } from '../../slack/errors.ts';
import type { TaskRow } from '../../store/tasks/tasks.ts';
import type { WorkspaceClient } from '../runtime/deps.ts';
import { isDirectChannel } from '../runtime/incoming-message.ts';

/** Longest lookup of the bot's own name (ms). */
const BOT_NAME_TIMEOUT_MS = 500;

/** Whether a person is in a channel, or has this direct conversation. `hidden`: Slack lists no members; `unknown`: it is unavailable. */
export async function membershipIn(
  { membership, posting }: Pick<WorkspaceClient, 'membership' | 'posting'>,
  channel: string,
  person: string,
  isNow = false,
): Promise<'member' | 'outsider' | 'hidden' | 'unknown'> {
  try {
    // With our scopes Slack does not list the members of a direct conversation.
    if (isDirectChannel(channel)) return (await posting.openDm(person)) === channel ? 'member' : 'outsider';
    const status = await membership.statusOf(channel, person, isNow);
    return status === 'unknown' ? 'hidden' : status;
  } catch (error) {
    if (!(error instanceof SlackError)) throw error;
    return 'unknown';
  }
}

/** The sentence in a conversation that the bot is not in. */
export async function inviteMe({ people, bot }: Pick<WorkspaceClient, 'people' | 'bot'>): Promise<string> {
  const name = people.personName(bot.userId).catch(() => undefined);
  return strings.inviteMe(await within(BOT_NAME_TIMEOUT_MS, name, undefined));
}

/** The sentence for a person who may not see a channel's tasks; undefined if they may. */
export async function channelTasksRefusal(
  workspace: Pick<WorkspaceClient, 'membership' | 'posting'>,
  channel: string,
  person: string,
): Promise<string | undefined> {
  const { outsider, hidden, membershipUnknown: unknown } = strings.home;
  return { member: undefined, outsider, hidden, unknown }[await membershipIn(workspace, channel, person)];
}

/**
 * The sentence for a person who may not see a task; undefined if they may. The members of its channel may, and where
 * Slack does not list members (group direct messages), the person who started it. `isNow`: by no cached answer.
 */
export async function taskRefusal(
  workspace: Pick<WorkspaceClient, 'membership' | 'posting'>,
  row: Pick<TaskRow, 'channel' | 'started_by'>,
  person: string,
  isNow = false,
): Promise<string | undefined> {
  const isStarter = row.started_by === person;
  if (isDirectChannel(row.channel)) return isStarter ? undefined : strings.tasks.outsider;
  const status = await membershipIn(workspace, row.channel, person, isNow);
  if (status === 'unknown') return strings.tasks.membershipUnknown;
  return status === 'member' || (status === 'hidden' && isStarter) ? undefined : strings.tasks.outsider;
}
