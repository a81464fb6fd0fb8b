import * as words from '../../reply/words.ts';
import { SlackError } from '../../slack/errors.ts';
import type { TaskRow } from '../../store/tasks.ts';
import { isDirect } from '../arriving/arrivals.ts';
import type { Workspace } from '../context.ts';

/** Whether a person may see a channel's tasks; a sentence where not. */
export async function channelRefusal(
  { membership }: Pick<Workspace, 'membership'>,
  channel: string,
  person: string,
): Promise<string | undefined> {
  try {
    const standing = await membership.standing(channel, person);
    if (standing === 'member') return undefined;
    return standing === 'outsider' ? words.home.outsider : words.home.hidden;
  } catch (error) {
    if (!(error instanceof SlackError)) throw error;
    return words.home.slackAway;
  }
}

/**
 * Whether a person may see a task, a sentence where not: those who are in its channel, and where Slack does not tell
 * who is (groups of direct messages), who began it.
 */
export async function taskRefusal(
  { membership }: Pick<Workspace, 'membership'>,
  row: Pick<TaskRow, 'channel' | 'starter'>,
  person: string,
): Promise<string | undefined> {
  const isTheirs = row.starter === person;
  if (isDirect(row.channel)) return isTheirs ? undefined : words.tasks.outsider;
  try {
    const standing = await membership.standing(row.channel, person);
    if (standing === 'member' || (standing === 'unknown' && isTheirs)) return undefined;
    return words.tasks.outsider;
  } catch (error) {
    if (!(error instanceof SlackError)) throw error;
    return words.tasks.noSlack;
  }
}
