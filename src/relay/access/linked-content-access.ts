import type { ChannelMembership } from '../../slack/channel-membership.ts';
import type { SlackDirectory } from '../../slack/directory.ts';
import type { SlackFile } from '../../slack/downloadable-files.ts';
import type { ChannelActor } from '../runtime/control-request.ts';
import { isDirectChannel, WORKFLOW_STEP } from '../runtime/incoming-message.ts';

/** Why a linked message must not be read; a key of the strings. */
export type LinkDenial =
  | 'link_workflow'
  | 'link_hidden'
  | 'link_elsewhere'
  | 'link_outsider'
  | 'link_private'
  | 'link_shared';

/** Who knows who is where. */
interface Witnesses {
  people: Pick<SlackDirectory, 'currentChannel' | 'isElsewhere' | 'currentPerson' | 'insiders'>;
  membership: Pick<ChannelMembership, 'statusOf' | 'areAllAmong'>;
}

/**
 * Why a message that somebody links to must not be read; undefined if it may be. Nobody gets to read more than they may
 * open themselves: it is read in the conversation that it is from, in the asker's own direct message for a member of that
 * conversation, and elsewhere only from a public channel, if neither place is shared with another organisation and
 * everybody in the asking one is a full member. Nothing is read for a step of a workflow, because its answer may go anywhere.
 * Nor is anything from another workspace of the organisation, whose admins decide where the bot reads. Unknown means no.
 * Throws a SlackError if Slack is unavailable.
 */
export async function linkDenialFor(
  { people, membership }: Witnesses,
  asked: ChannelActor,
  linked: string,
): Promise<LinkDenial | undefined> {
  if (asked.person === WORKFLOW_STEP) return 'link_workflow';
  if (linked === asked.channel) return undefined;
  const isDirect = isDirectChannel(asked.channel);
  if (isDirect && (await membership.statusOf(linked, asked.person)) === 'member')
    return (await people.isElsewhere(linked)) ? 'link_elsewhere' : undefined;
  const { kind, isExtShared } = await people.currentChannel(linked);
  if (kind === 'unknown') return 'link_hidden';
  if (kind === 'elsewhere') return 'link_elsewhere';
  if (kind !== 'public') return isDirect ? 'link_outsider' : 'link_private';
  if (isExtShared !== false) return 'link_shared';
  if (isDirect)
    return (await people.currentPerson(asked.person)).kind === 'member' ? undefined : 'link_outsider';
  const asking = await people.currentChannel(asked.channel);
  const hasOnlyMembers =
    asking.isExtShared === false && (await membership.areAllAmong(asked.channel, await people.insiders()));
  return hasOnlyMembers ? undefined : 'link_shared';
}

/** How many conversations of a file are asked for their members. */
const MAX_CONVERSATIONS = 5;

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
