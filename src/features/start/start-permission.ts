import { certainClosingAt, recordRefusal } from '../../relay/access/access-policy.ts';
import { type Refusal, refusalAuditDetails, refusalTold } from '../../relay/access/refusals.ts';
import { useDenial } from '../../relay/access/rights.ts';
import { exceededQuota } from '../../relay/access/turn-quotas.ts';
import type { RelayDeps, WorkspaceClient } from '../../relay/runtime/deps.ts';
import { isDirectChannel } from '../../relay/runtime/incoming-message.ts';
import * as strings from '../../render/strings/index.ts';
import type { ThreadKey } from '../../store/schema.ts';

/** Longest lookup of the person and their membership in the channel (ms). */
const LOOKUP_TIMEOUT_MS = 900;

/** Where a form sends its question. */
export interface StartTarget {
  channel: string;
  person: string;
  /** Slack told us that the person opened the form there: hours ago, maybe. */
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
  const { channel, person, source, openedThere } = target;
  const closing = source && (await certainClosingAt(deps, source));
  const asker = { workspace: workspace.id, channel, person };
  const place = openedThere ? 'reading' : 'listed';
  const why = closing ?? (await useDenial(deps, asker, place, AbortSignal.timeout(LOOKUP_TIMEOUT_MS)));
  const exceeded =
    why === undefined
      ? await exceededQuota(deps.store.turnUsage, workspace.id, person, deps.settings.quotas)
      : undefined;
  const refusal: Refusal | undefined = why === undefined ? exceeded && { why: 'limit', exceeded } : { why };
  if (refusal === undefined) return undefined;
  const isForeign = why === 'outsider' && isDirectChannel(channel);
  const details = { ...refusalAuditDetails(refusal), ...(isForeign && { why: 'foreign' }) };
  await recordRefusal(deps, asker, { ...details, control: 'start' });
  if (isForeign) return strings.startForm.foreign;
  if (why === 'outsider' || why === 'hidden') return strings.startForm[why];
  return refusalTold(deps, asker, refusal, 'form');
}
