import type { ChannelActor } from '../runtime/actors.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import { transientFailure } from '../runtime/retry.ts';
import { accessDenialFor } from './access-policy.ts';
import { type Refusal, refusalAuditDetails, refusalSentence } from './refusals.ts';

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
  const refusal = await findRefusal(deps, workspace, asker, AbortSignal.timeout(timeoutMs));
  if (refusal === undefined) return undefined;
  const details = { ...refusalAuditDetails(refusal), control: 'start' };
  await deps.store.audit.add({
    workspace: asker.workspace,
    channel: asker.channel,
    user_id: asker.person,
    kind: 'refusal',
    details,
  });
  deps.log.info({ ...asker, ...details }, 'start form refused');
  return refusalSentence(refusal);
}

async function findRefusal(
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
