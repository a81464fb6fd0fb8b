import * as strings from '../../render/strings/index.ts';
import { SlackError } from '../../slack/errors.ts';
import type { TaskRow } from '../../store/tasks/tasks.ts';
import type { WorkspaceClient } from '../runtime/deps.ts';
import { isDirectChannel } from '../runtime/incoming-message.ts';

/** The sentence for a person who may not see a channel's tasks; undefined if they may. */
export async function channelTasksRefusal(
  { membership }: Pick<WorkspaceClient, 'membership'>,
  channel: string,
  person: string,
): Promise<string | undefined> {
  try {
    const status = await membership.statusOf(channel, person);
    if (status === 'member') return undefined;
    return status === 'outsider' ? strings.home.outsider : strings.home.hidden;
  } catch (error) {
    if (!(error instanceof SlackError)) throw error;
    return strings.home.membershipUnknown;
  }
}

/**
 * The sentence for a person who may not see a task; undefined if they may. The members of its channel may, and where
 * Slack does not list members (group direct messages), the person who started it.
 */
export async function taskRefusal(
  { membership }: Pick<WorkspaceClient, 'membership'>,
  row: Pick<TaskRow, 'channel' | 'started_by'>,
  person: string,
): Promise<string | undefined> {
  const isStarter = row.started_by === person;
  if (isDirectChannel(row.channel)) return isStarter ? undefined : strings.tasks.outsider;
  try {
    const status = await membership.statusOf(row.channel, person);
    if (status === 'member' || (status === 'unknown' && isStarter)) return undefined;
    return strings.tasks.outsider;
  } catch (error) {
    if (!(error instanceof SlackError)) throw error;
    return strings.tasks.membershipUnknown;
  }
}
