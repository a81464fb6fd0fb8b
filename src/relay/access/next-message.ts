import * as strings from '../../render/strings/index.ts';
import type { ThreadKey } from '../../store/keys.ts';
import type { Message, Turn } from '../../store/schema.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import { isEarlierTs } from '../runtime/incoming-message.ts';
import type { Lease } from '../runtime/lease.ts';
import { type WaitCause, withRetry } from '../runtime/retry.ts';
import { accessDenialFor } from './access-policy.ts';
import { notifyWriter, refuseMessage } from './refusals.ts';
import { beginTurnWithinQuotas } from './turn-quotas.ts';

/** How the next message is looked for. */
export interface NextMessageOptions {
  /** Only one that is earlier than this ts. */
  before?: string;
  /** Throws where Slack does not tell who somebody is, in place of waiting. */
  failFast?: boolean;
}

/**
 * The thread's waiting message with the lowest ts whose writer is admitted; others are refused. Waits where Slack does
 * not tell who somebody is; throws HandOver, or the lease's reason.
 */
export async function nextAllowedMessage(
  deps: RelayDeps,
  workspace: WorkspaceClient,
  thread: ThreadKey,
  lease: Lease,
  { before, failFast = false }: NextMessageOptions = {},
): Promise<Message | undefined> {
  for (;;) {
    const message = await deps.store.messages.nextWaiting(thread);
    if (message === undefined || (before !== undefined && !isEarlierTs(message.ts, before))) return undefined;
    let waited = false;
    const check = () => accessDenialFor(deps, workspace.people, message, lease.signal);
    const onWait = (cause: WaitCause | undefined, error: unknown) => {
      if (cause === undefined || waited) return;
      waited = true;
      const { workspace: id, channel, root } = thread;
      const threadKey = { workspace: id, channel, root };
      deps.log.warn({ ...threadKey, err: error }, 'it is not known who wrote a message; it waits');
      notifyWriter(deps, message, strings.waitingForIdentity);
    };
    const denial = await (failFast ? check() : withRetry(lease, check, onWait));
    if (denial !== undefined) await refuseMessage(deps, workspace, message, { why: denial });
    // It may have been taken back meanwhile.
    else if (!waited) return message;
  }
}

/** Begins the turn of an admitted message; undefined where that is too much, and the message was refused. */
export async function beginTurnOrRefuse(
  deps: RelayDeps,
  workspace: WorkspaceClient,
  id: string,
  message: Message,
  passedOnBy: string | null = null,
): Promise<Turn | undefined> {
  const result = await beginTurnWithinQuotas(deps, id, message, passedOnBy);
  if ('turn' in result) return result.turn;
  await refuseMessage(deps, workspace, message, { why: 'limit', exceeded: result.excess });
  return undefined;
}
