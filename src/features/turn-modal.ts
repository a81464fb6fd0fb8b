import type { AgentClient } from '../agent/agent-client.ts';
import { AgentError, AgentNotFoundError } from '../agent/errors.ts';
import { controlRefusal, useOnTurn } from '../relay/access/control-permission.ts';
import { type ControlRequest, turnOf } from '../relay/runtime/control-request.ts';
import type { RelayDeps } from '../relay/runtime/deps.ts';
import * as strings from '../render/strings/index.ts';
import type { Turn } from '../store/schema.ts';
import { taskIdOf } from '../store/threads/turns.ts';
import type { ModalContent } from './open-modal.ts';

/** A turn, and where to read what the service has of it. */
export interface TurnAtService {
  turn: Turn;
  taskId: string;
  agent: AgentClient;
}

/**
 * What a modal about a turn shows: what `read` returns or, where the person may not see it or the service does not have
 * it, a sentence. `control` is the action id, for the audit trail.
 */
export async function turnModalContent(
  deps: RelayDeps,
  request: ControlRequest,
  { control, notFound }: { control: string; notFound: string },
  read: (at: TurnAtService) => Promise<ModalContent>,
): Promise<ModalContent> {
  const turn = await turnOf(deps.store, request);
  if (turn === undefined) return notFound;
  const use = { ...useOnTurn(turn, request.person, control), isReadOnly: true };
  const refusal = await controlRefusal(deps, use);
  if (refusal !== undefined) return refusal;
  const thread = await deps.store.threads.getOrThrow(turn);
  const taskId = taskIdOf(turn, thread);
  if (taskId === null) return notFound;
  try {
    return await read({ turn, taskId, agent: deps.agent(thread.account_id) });
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    if (error instanceof AgentNotFoundError) return notFound;
    deps.log.warn({ err: error, turn: turn.id, control }, 'could not read a turn at the service for a modal');
    return strings.modalUnavailable;
  }
}
