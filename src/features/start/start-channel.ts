import type { RelayDeps, WorkspaceClient } from '../../relay/runtime/deps.ts';
import { isDirectChannel } from '../../relay/runtime/incoming-message.ts';
import { SlackError } from '../../slack/errors.ts';

/** The channel that a form's question is for, and who asks. */
export interface StartChannel {
  channel: string;
  person: string;
  /** Slack told us that the person opened the form there. */
  openedThere: boolean;
}

/**
 * Why a question may not go to a channel. `outsider`: the person is not in it; `foreign`: the direct conversation is not
 * theirs with the bot; `hidden`: Slack does not say who is in it, perhaps because the bot is not; `unknown`: Slack did
 * not answer.
 */
export type StartChannelRefusal = 'outsider' | 'foreign' | 'hidden' | 'unknown';

/** Checks the channel of a submitted form, which may name any. Refuses if Slack does not answer within `timeoutMs`. */
export async function startChannelRefusal(
  deps: RelayDeps,
  workspace: WorkspaceClient,
  target: StartChannel,
  timeoutMs: number,
): Promise<StartChannelRefusal | undefined> {
  const why = await inTime(findRefusal(workspace, target), timeoutMs);
  if (why === undefined) return undefined;
  const { channel, person } = target;
  const location = { workspace: workspace.id, channel };
  const details = { control: 'start', why };
  if (why !== 'unknown')
    await deps.store.audit.add({ ...location, user_id: person, kind: 'refusal', details });
  deps.log.info({ ...location, person, ...details }, 'start form refused');
  return why;
}

async function findRefusal(
  { membership, posting }: WorkspaceClient,
  { channel, person, openedThere }: StartChannel,
): Promise<StartChannelRefusal | undefined> {
  // With our scopes Slack does not list the members of a direct conversation.
  if (isDirectChannel(channel)) return (await posting.openDm(person)) === channel ? undefined : 'foreign';
  const status = await membership.statusOf(channel, person);
  if (status === 'member') return undefined;
  if (status === 'outsider') return 'outsider';
  // Slack does not list the members of group conversations and very large channels.
  return openedThere ? undefined : 'hidden';
}

async function inTime(
  refusal: Promise<StartChannelRefusal | undefined>,
  timeoutMs: number,
): Promise<StartChannelRefusal | undefined> {
  const late = Promise.withResolvers<StartChannelRefusal>();
  const timer = setTimeout(() => late.resolve('unknown'), timeoutMs);
  const known = refusal.catch((error: unknown): StartChannelRefusal => {
    if (error instanceof SlackError) return 'unknown';
    throw error;
  });
  try {
    return await Promise.race([known, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
