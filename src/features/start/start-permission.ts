import { within } from '../../calls/waits.ts';
import { accessDenialFor } from '../../relay/access/access-policy.ts';
import { type Refusal, refusalAuditDetails, refusalSentence } from '../../relay/access/refusals.ts';
import type { RelayDeps, WorkspaceClient } from '../../relay/runtime/deps.ts';
import { isDirectChannel } from '../../relay/runtime/incoming-message.ts';
import { transientFailure } from '../../relay/runtime/outage-waits.ts';
import { membershipIn } from '../../relay/tasks/task-access.ts';
import * as strings from '../../render/strings/index.ts';

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
    return refuse(deps, workspace, target, refusalSentence(ofPerson, 'form'), refusalAuditDetails(ofPerson));
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
 * Why a question may not go to a channel: a key of the sentences for it. `foreign`: the direct conversation is not theirs
 * with the bot; `unknown`: Slack did not answer in time.
 */
async function channelRefusal(
  workspace: WorkspaceClient,
  { channel, person, openedThere }: StartTarget,
): Promise<'outsider' | 'foreign' | 'hidden' | 'unknown' | undefined> {
  const known = membershipIn(workspace, channel, person);
  const status = await within(LOOKUP_TIMEOUT_MS, known, 'unknown' as const);
  // Slack does not list the members of group conversations and very large channels.
  if (status === 'member' || (status === 'hidden' && openedThere)) return undefined;
  return status === 'outsider' && isDirectChannel(channel) ? 'foreign' : status;
}
