import * as strings from '../../render/strings/index.ts';
import { SlackError } from '../../slack/errors.ts';
import type { TaskRow } from '../../store/tasks/task-records.ts';
import type { WorkspaceClient } from '../runtime/deps.ts';
import { isDirectChannel } from '../runtime/incoming-message.ts';

/** Whether a person may see a channel's tasks; a sentence where not. */
export async function channelTasksRefusal(
  { membership }: Pick<WorkspaceClient, 'membership'>,
  channel: string,
  person: string,
): Promise<string | undefined> {
  try {
    const membershipStatus = await membership.statusOf(channel, person);
    if (membershipStatus === 'member') return undefined;
    return membershipStatus === 'outsider' ? strings.home.outsider : strings.home.hidden;
  } catch (error) {
    if (!(error instanceof SlackError)) throw error;
    return strings.home.membershipUnknown;
  }
}

/**
 * Whether a person may see a task, a sentence where not: those who are in its channel, and where Slack does not tell
 * who is (groups of direct messages), who began it.
 */
export async function taskRefusal(
  { membership }: Pick<WorkspaceClient, 'membership'>,
  row: Pick<TaskRow, 'channel' | 'starter'>,
  person: string,
): Promise<string | undefined> {
  const isStarter = row.starter === person;
  if (isDirectChannel(row.channel)) return isStarter ? undefined : strings.tasks.outsider;
  try {
    const membershipStatus = await membership.statusOf(row.channel, person);
    if (membershipStatus === 'member' || (membershipStatus === 'unknown' && isStarter)) return undefined;
    return strings.tasks.outsider;
  } catch (error) {
    if (!(error instanceof SlackError)) throw error;
    return strings.tasks.membershipUnknown;
  }
}
