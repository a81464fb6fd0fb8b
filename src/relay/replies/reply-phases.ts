import type { ReplyPhase } from '../../render/messages/reply-message.ts';
import * as strings from '../../render/strings/index.ts';
import type { TurnOutcome } from '../../store/schema.ts';
import type { WaitCause } from '../runtime/retry.ts';
import type { ReadReply } from './reply-blocks.ts';

/** What a reply says while a step waits. */
export const WAIT_SENTENCES: Record<WaitCause, string> = {
  service_unreachable: strings.serviceUnreachable,
  service_busy: strings.serviceBusy,
  service_key: strings.rejectedApiKey,
  slack: strings.slackRateLimited,
  file: strings.fileUnreachable,
  store: strings.databaseUnreachable,
};

/** The phase of a reply that ends before it has settled; others have failed. */
export const END_PHASES: Partial<Record<TurnOutcome, ReplyPhase>> = {
  helped: 'done',
  kept: 'done',
  cancelled: 'cancelled',
};

/** The phase of a reply that is being written. */
export function phaseOf({ status }: ReadReply): ReplyPhase {
  if (status === 'pending') return 'queued';
  return status === 'cancelling' ? 'stopping' : 'working';
}
