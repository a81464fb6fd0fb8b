import {
  AgentError,
  AgentForbiddenError,
  AgentNotFoundError,
  AgentRejectedError,
  AgentResponseSizeError,
} from '../../agent/errors.ts';
import * as strings from '../../render/strings/index.ts';
import { PayloadRefusedError } from '../../slack/errors.ts';
import type { TurnOutcome } from '../../store/schema.ts';
import { AccountGone } from '../installations/changed-account.ts';
import type { ReadReply } from '../replies/reply-blocks.ts';
import { TurnEnded } from '../runtime/turn-interruptions.ts';

/** What the service has of a turn. */
interface StateAtService {
  task: boolean;
  message: boolean;
}

/** How a permanent error ends a turn; the thread shows `sentence`, or nothing if it is null. */
export function outcomeOfError(
  error: unknown,
  atService: StateAtService,
): { outcome: TurnOutcome; sentence: string | null; offer?: 'choose' | undefined } {
  if (error instanceof TurnEnded)
    return { outcome: error.outcome, sentence: error.sentence, offer: error.offer };
  if (error instanceof AccountGone) return { outcome: 'refused', sentence: strings.accountChanged };
  if (error instanceof AgentError) return { outcome: 'refused', sentence: failureSentence(error, atService) };
  if (error instanceof PayloadRefusedError) return { outcome: 'abandoned', sentence: strings.answerRefused };
  return { outcome: 'abandoned', sentence: strings.retriesExhausted };
}

/** The error's own sentence is for operators, who find it in the log. */
function failureSentence(error: AgentError, atService: StateAtService): string {
  if (error instanceof AgentNotFoundError && atService.task) return strings.taskNotFound;
  if (error instanceof AgentForbiddenError && atService.task) return strings.taskForbidden;
  const isUnknown = error.code === 'not_understood' || error.code === 'unavailable';
  if (isUnknown && atService.task && !atService.message) return strings.retriesExhausted;
  const serviceMessage = error instanceof AgentRejectedError ? error.reason : undefined;
  if (atService.message)
    return error instanceof AgentResponseSizeError
      ? strings.answerTooLarge
      : strings.answerUnreadable(serviceMessage ?? '');
  return serviceMessage === undefined ? strings.serviceFailed : strings.messageRejected(serviceMessage);
}

/** The outcome of a settled reply; `wasStoppedAfterReply`: its task was stopped while it worked in the background. */
export function outcomeOfReply(
  message: Pick<ReadReply, 'status' | 'stopReason' | 'error'>,
  wasStoppedAfterReply = false,
): 'completed' | 'cancelled' | 'failed' | 'length' {
  if (message.status === 'cancelled' || message.stopReason === 'cancelled') return 'cancelled';
  if (message.status === 'failed' || message.stopReason === 'error' || message.error !== null)
    return 'failed';
  if (message.stopReason === 'length') return 'length';
  return wasStoppedAfterReply ? 'cancelled' : 'completed';
}
