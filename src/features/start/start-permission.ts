import { setTimeout as sleep } from 'node:timers/promises';
import { accessDenialFor } from '../../relay/access/access-policy.ts';
import { type Refusal, refusalAuditDetails, refusalSentence } from '../../relay/access/refusals.ts';
import type { ChannelActor } from '../../relay/runtime/actors.ts';
import type { RelayDeps, WorkspaceClient } from '../../relay/runtime/deps.ts';
import { isDirectChannel } from '../../relay/runtime/incoming-message.ts';
import { transientFailure } from '../../relay/runtime/retry.ts';
import { SlackError } from '../../slack/errors.ts';

/**
 * The sentence for a person who may not start a task with a form; undefined where they may. Takes at most `timeoutMs`:
 * a person whom Slack has not identified by then is refused.
 */
export async function startRefusal(
  deps: RelayDeps,
  workspace: WorkspaceClient,
  asker: ChannelActor,
  timeoutMs: number,
): Promise<string | undefined> {
  const refusal = await personRefusal(deps, workspace, asker, AbortSignal.timeout(timeoutMs));
  if (refusal === undefined) return undefined;
  const { workspace: id, channel, person: user_id } = asker;
  const details = { ...refusalAuditDetails(refusal), control: 'start' };
  await deps.store.audit.add({ workspace: id, channel, user_id, kind: 'refusal', details });
  deps.log.info({ ...asker, ...details }, 'start form refused');
  return refusalSentence(refusal);
}

async function personRefusal(
  deps: RelayDeps,
  workspace: WorkspaceClient,
  asker: ChannelActor,
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  try {
    const why = await accessDenialFor(deps, workspace.people, asker, signal);
    if (why !== undefined) return { why };
  } catch (error) {
    if (!signal.aborted && transientFailure(error)?.cause !== 'slack') throw error;
    return { why: 'unknown' };
  }
  const { store, settings } = deps;
  const exceeded = await store.turnUsage.exceeded(asker.workspace, asker.person, settings.quotas);
  return exceeded && { why: 'limit', exceeded };
}

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
  const known = channelRefusal(workspace, target).catch((error: unknown) => {
    if (error instanceof SlackError) return 'unknown' as const;
    throw error;
  });
  const why = await Promise.race([known, sleep(timeoutMs, 'unknown' as const, { ref: false })]);
  if (why === undefined) return undefined;
  const { channel, person } = target;
  const location = { workspace: workspace.id, channel };
  const details = { control: 'start', why };
  if (why !== 'unknown')
    await deps.store.audit.add({ ...location, user_id: person, kind: 'refusal', details });
  deps.log.info({ ...location, person, ...details }, 'start form refused');
  return why;
}

async function channelRefusal(
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
