import { within } from '../../calls/retries-and-waits.ts';
import { accessDenialFor, certainClosingAt, recordRefusal } from '../../relay/access/access-policy.ts';
import { type Refusal, refusalAuditDetails, refusalSentence } from '../../relay/access/refusals.ts';
import { exceededQuota } from '../../relay/access/turn-quotas.ts';
import type { RelayDeps, WorkspaceClient } from '../../relay/runtime/deps.ts';
import { isDirectChannel } from '../../relay/runtime/incoming-message.ts';
import { transientFailure } from '../../relay/runtime/retry-and-giving-up.ts';
import { membershipIn } from '../../relay/tasks/task-list-and-access.ts';
import * as strings from '../../render/strings/index.ts';
import type { ThreadKey } from '../../store/schema.ts';

/** Longest lookup of the person, and of their membership in the channel (ms each). */
const LOOKUP_TIMEOUT_MS = 900;

/** Where a form sends its question. */
export interface StartTarget {
  channel: string;
  person: string;
  /** Slack told us that the person opened the form there. */
  openedThere: boolean;
  /** Where the message was written that the question is about. */
  source?: Pick<ThreadKey, 'workspace' | 'channel'> | undefined;
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
  const why = (await personRefusal(deps, workspace, target)) ?? (await channelRefusal(workspace, target));
  if (why === undefined) return undefined;
  const details = typeof why === 'string' ? { why } : refusalAuditDetails(why);
  await recordRefusal(deps, { ...target, workspace: workspace.id }, { ...details, control: 'start' });
  return typeof why === 'string' ? strings.startForm[why] : refusalSentence(why, 'form');
}

async function personRefusal(
  deps: RelayDeps,
  { id: workspace, people }: WorkspaceClient,
  { channel, person, source }: StartTarget,
): Promise<Refusal | undefined> {
  const closing = source && (await certainClosingAt(deps, source));
  if (closing !== undefined) return { why: closing };
  const timeout = AbortSignal.timeout(LOOKUP_TIMEOUT_MS);
  try {
    const why = await accessDenialFor(deps, people, { workspace, channel, person }, timeout);
    if (why !== undefined) return { why };
  } catch (error) {
    if (!timeout.aborted && transientFailure(error)?.cause !== 'slack') throw error;
    return { why: 'unknown' };
  }
  const exceeded = await exceededQuota(deps.store.turnUsage, workspace, person, deps.settings.quotas);
  return exceeded && { why: 'limit', exceeded };
}

/**
 * Why a question may not go to a channel: a key of the sentences for it. `foreign`: the direct conversation is not theirs
 * with the bot; `unknown`: Slack did not answer in time.
 */
async function channelRefusal(workspace: WorkspaceClient, { channel, person, openedThere }: StartTarget) {
  const known = membershipIn(workspace, channel, person);
  const status = await within(LOOKUP_TIMEOUT_MS, known, 'unknown' as const);
  // Slack does not list the members of group conversations and very large channels.
  if (status === 'member' || (status === 'hidden' && openedThere)) return undefined;
  return status === 'outsider' && isDirectChannel(channel) ? 'foreign' : status;
}
