import { within } from '../../calls/waits.ts';
import { accessDenialFor } from '../../relay/access/access-policy.ts';
import { formRefusalSentence, type Refusal, refusalAuditDetails } from '../../relay/access/refusals.ts';
import type { RelayDeps, WorkspaceClient } from '../../relay/runtime/deps.ts';
import { isDirectChannel } from '../../relay/runtime/incoming-message.ts';
import { transientFailure } from '../../relay/runtime/retry.ts';
import * as strings from '../../render/strings/index.ts';
import { SlackError } from '../../slack/errors.ts';

/** Longest lookup of the person, and of their membership in the channel (ms each). */
const LOOKUP_TIMEOUT_MS = 900;

/** Where a form sends its question. */
export interface StartTarget {
  channel: string;
  person: string;
  /** Slack told us that the person opened the form there. */
  openedThere: boolean;
}

/**
 * The sentence for a person who may not start a task in a channel; undefined if they may. A form may name any channel.
 * A person whom Slack has not identified in time is refused, and a channel of which it does not say who is in it.
 */
export async function startRefusal(
  deps: RelayDeps,
  workspace: WorkspaceClient,
  target: StartTarget,
): Promise<string | undefined> {
  const ofPerson = await personRefusal(deps, workspace, target);
  if (ofPerson !== undefined)
    return refuse(deps, workspace, target, formRefusalSentence(ofPerson), refusalAuditDetails(ofPerson));
  const why = await channelRefusal(workspace, target);
  return why && refuse(deps, workspace, target, strings.startForm[why], { why });
}

async function refuse(
  { store, log }: RelayDeps,
  { id: workspace }: WorkspaceClient,
  { channel, person: user_id }: StartTarget,
  sentence: string,
  why: Record<string, string | number>,
): Promise<string> {
  const details = { ...why, control: 'start' };
  await store.audit.add({ workspace, channel, user_id, kind: 'refusal', details });
  log.info({ workspace, channel, person: user_id, ...details }, 'start form refused');
  return sentence;
}

async function personRefusal(
  deps: RelayDeps,
  { id: workspace, people }: WorkspaceClient,
  { channel, person }: StartTarget,
): Promise<Refusal | undefined> {
  const timeout = AbortSignal.timeout(LOOKUP_TIMEOUT_MS);
  try {
    const why = await accessDenialFor(deps, people, { workspace, channel, person }, timeout);
    if (why !== undefined) return { why };
  } catch (error) {
    if (!timeout.aborted && transientFailure(error)?.cause !== 'slack') throw error;
    return { why: 'unknown' };
  }
  const exceeded = await deps.store.turnUsage.exceeded(workspace, person, deps.settings.quotas);
  return exceeded && { why: 'limit', exceeded };
}

/**
 * Why a question may not go to a channel. `outsider`: the person is not in it; `foreign`: the direct conversation is not
 * theirs with the bot; `hidden`: Slack does not say who is in it, perhaps because the bot is not; `unknown`: Slack did
 * not answer in time.
 */
type ChannelRefusal = 'outsider' | 'foreign' | 'hidden' | 'unknown';

async function channelRefusal(
  { membership, posting }: WorkspaceClient,
  { channel, person, openedThere }: StartTarget,
): Promise<ChannelRefusal | undefined> {
  const lookUp = async (): Promise<ChannelRefusal | undefined> => {
    // With our scopes Slack does not list the members of a direct conversation.
    if (isDirectChannel(channel)) return (await posting.openDm(person)) === channel ? undefined : 'foreign';
    const status = await membership.statusOf(channel, person);
    if (status !== 'unknown') return status === 'member' ? undefined : status;
    // Slack does not list the members of group conversations and very large channels.
    return openedThere ? undefined : 'hidden';
  };
  return within(LOOKUP_TIMEOUT_MS, lookUp(), 'unknown' as const).catch((error: unknown) => {
    if (error instanceof SlackError) return 'unknown';
    throw error;
  });
}
