import type { ChannelMembership } from '../../slack/channel-membership.ts';
import type { SlackDirectory } from '../../slack/directory.ts';
import type { SlackFile } from '../../slack/shared-file.ts';

/** How many conversations of a file are asked for their members. */
const MAX_CONVERSATIONS = 5;

/** Who knows who is where. */
interface Witnesses {
  people: Pick<SlackDirectory, 'currentPerson' | 'currentChannel'>;
  membership: Pick<ChannelMembership, 'statusOf'>;
}

/**
 * Whether a person may see a file, as `files.info` describes it: it is theirs, it is in a public channel and they are a full
 * member of its workspace, or they are in a conversation that it is shared in. Unknown means no. Throws a SlackError if
 * Slack is unavailable.
 */
export async function maySeeFile(
  { people, membership }: Witnesses,
  person: string,
  { user, channels = [], groups = [], ims = [] }: SlackFile,
): Promise<boolean> {
  if (user === person) return true;
  if (channels.length > 0 && (await people.currentPerson(person)).kind === 'member')
    for (const channel of channels.slice(0, MAX_CONVERSATIONS))
      if ((await people.currentChannel(channel)).kind === 'public') return true;
  for (const conversation of [...ims, ...groups, ...channels].slice(0, MAX_CONVERSATIONS))
    if ((await membership.statusOf(conversation, person)) === 'member') return true;
  return false;
}
