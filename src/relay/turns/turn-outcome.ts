import {
  AgentError,
  AgentNotFoundError,
  AgentRejectedError,
  AgentResponseSizeError,
} from '../../agent/errors.ts';
import type { Message as AgentMessage } from '../../agent/service-schema.ts';
import * as strings from '../../render/strings/index.ts';
import type { TurnOutcome } from '../../store/schema.ts';
import { AccountGone } from '../installations/account-check.ts';
import { TurnEnded } from '../runtime/turn-interruptions.ts';

/** What of a turn the service has. */
export interface StateAtService {
  task: boolean;
  message: boolean;
}

/** How a turn ends that a lasting error ends; the thread shows `sentence`, or nothing where it is null. */
export function outcomeOfError(
  error: unknown,
  atService: StateAtService,
): { outcome: TurnOutcome; sentence: string | null; offer?: 'choose' | undefined } {
  if (error instanceof TurnEnded)
    return { outcome: error.outcome, sentence: error.sentence, offer: error.offer };
  if (error instanceof AccountGone) return { outcome: 'refused', sentence: strings.accountChanged };
  if (error instanceof AgentError) return { outcome: 'refused', sentence: failureSentence(error, atService) };
  return { outcome: 'abandoned', sentence: strings.retriesExhausted };
}

/** The error's own sentence is for operators, who find it in the log. */
function failureSentence(error: AgentError, atService: StateAtService): string {
  if (error instanceof AgentNotFoundError && atService.task) return strings.taskNotFound;
  const serviceMessage = error instanceof AgentRejectedError ? error.reason : undefined;
  if (atService.message)
    return error instanceof AgentResponseSizeError
      ? strings.answerTooLarge
      : strings.answerUnreadable(serviceMessage ?? '');
  return serviceMessage === undefined ? strings.serviceFailed : strings.messageRejected(serviceMessage);
}

/** The outcome of a settled reply; `wasStoppedAfterReply`: its task was stopped while it worked in the background. */
export function outcomeOfReply(
  message: AgentMessage,
  wasStoppedAfterReply = false,
): 'completed' | 'cancelled' | 'failed' | 'length' {
  if (message.status === 'cancelled' || message.stopReason === 'cancelled') return 'cancelled';
  if (message.status === 'failed' || message.stopReason === 'error' || message.error !== null)
    return 'failed';
  if (message.stopReason === 'length') return 'length';
  return wasStoppedAfterReply ? 'cancelled' : 'completed';
}

/** Most tools that the audit trail names for one reply. */
const MAX_AUDITED_TOOLS = 50;

/** How often the agent used each tool for a reply; beyond the first 50, tools count as "others". */
export function countTools({ content }: AgentMessage): Record<string, number> {
  const tools = new Map<string, number>();
  for (const block of content) {
    if (block.type !== 'tool_use') continue;
    const name = tools.has(block.name) || tools.size < MAX_AUDITED_TOOLS ? block.name : 'others';
    tools.set(name, (tools.get(name) ?? 0) + 1);
  }
  return Object.fromEntries(tools);
}
