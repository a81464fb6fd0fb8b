import type { RelayDeps, WorkspaceClient } from '../../relay/runtime/deps.ts';
import { isDirectChannel } from '../../relay/runtime/incoming-message.ts';
import { SlackError } from '../../slack/errors.ts';

/** Where a form's question is to go, and for whom. */
export interface Place {
  channel: string;
  person: string;
  /** Slack said that the person opened the form there. */
  openedThere: boolean;
}

/**
 * Why a question may not go to a place. `outsider`: the person is not in the channel; `foreign`: the direct
 * conversation is not theirs with the bot; `hidden`: Slack does not tell who is in the channel, perhaps because the bot
 * is not; `unknown`: Slack is away.
 */
export type PlaceRefusal = 'outsider' | 'foreign' | 'hidden' | 'unknown';

/** Asked as the form is sent, because anything may stand in it. What Slack has not told within so many ms is no. */
export async function placeRefusal(
  deps: RelayDeps,
  workspace: WorkspaceClient,
  place: Place,
  withinMs: number,
): Promise<PlaceRefusal | undefined> {
  const why = await inTime(refused(workspace, place), withinMs);
  if (why === undefined) return undefined;
  const { channel, person } = place;
  const use = { workspace: workspace.id, channel, person };
  const details = { control: 'start', why };
  if (why !== 'unknown') await deps.store.audit.add({ ...use, kind: 'refusal', details });
  deps.log.info({ ...use, ...details }, 'a form was refused');
  return why;
}

async function refused(
  { membership, posting }: WorkspaceClient,
  { channel, person, openedThere }: Place,
): Promise<PlaceRefusal | undefined> {
  // Slack names the people of a direct channel only to apps that may read more than we ask for.
  if (isDirectChannel(channel)) return (await posting.openDm(person)) === channel ? undefined : 'foreign';
  const standing = await membership.statusOf(channel, person);
  if (standing === 'member') return undefined;
  if (standing === 'outsider') return 'outsider';
  // Of groups of direct messages and of very large channels Slack does not tell us who is in them.
  return openedThere ? undefined : 'hidden';
}

async function inTime(
  answer: Promise<PlaceRefusal | undefined>,
  withinMs: number,
): Promise<PlaceRefusal | undefined> {
  const late = Promise.withResolvers<PlaceRefusal>();
  const timer = setTimeout(() => late.resolve('unknown'), withinMs);
  const known = answer.catch((error: unknown): PlaceRefusal => {
    if (error instanceof SlackError) return 'unknown';
    throw error;
  });
  try {
    return await Promise.race([known, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
