import type { Message, Turn } from '../../store/schema.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import { refuseMessage } from './refusals.ts';

/**
 * Begins the turn of a message, or refuses the message and returns undefined where the turn would exceed a quota.
 * `forwardedBy` is the running turn that sends the message, if any.
 */
export async function beginTurnOrRefuse(
  deps: RelayDeps,
  workspace: WorkspaceClient,
  id: string,
  message: Message,
  forwardedBy: string | null = null,
): Promise<Turn | undefined> {
  const result = await deps.store.transaction(async ({ turnUsage, turns }) => {
    // Counting and beginning must not overlap with another turn's.
    await turnUsage.lockWorkspace(message.workspace);
    const exceeded = await turnUsage.exceeded(message.workspace, message.user_id, deps.settings.quotas);
    return exceeded === undefined ? { turn: await turns.begin(id, message, forwardedBy) } : { exceeded };
  });
  if ('turn' in result) return result.turn;
  await refuseMessage(deps, workspace, message, { why: 'limit', exceeded: result.exceeded });
  return undefined;
}
