import type { Message, Turn } from '../../store/schema.ts';
import type { TurnLimits } from '../../store/threads/turn-usage.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { WORKFLOW_STEP } from '../runtime/incoming-message.ts';
import { notifyWriter, refusalSentence, refuseMessage } from './refusals.ts';

/** Begins a message's turn, or refuses the message beyond a quota. `forwardedBy`: the running turn that sends it. */
export async function beginTurnOrRefuse(
  work: Pick<ThreadWork, 'deps' | 'workspace'>,
  id: string,
  message: Message,
  forwardedBy: string | null = null,
): Promise<Turn | undefined> {
  const { store, settings } = work.deps;
  if (Object.values(settings.quotas).every((most) => most === 0))
    return store.turns.begin(id, message, forwardedBy);
  const result = await store.transaction(async ({ turnUsage, turns }) => {
    // Counting and beginning must not overlap with another turn's.
    await turnUsage.lockWorkspace(message.workspace);
    const { workspace, user_id: person } = message;
    const exceeded = await turnUsage.exceeded(workspace, person, quotasOf(person, settings.quotas));
    return exceeded === undefined ? { turn: await turns.begin(id, message, forwardedBy) } : { exceeded };
  });
  if ('turn' in result) return result.turn;
  const refusal = { why: 'limit', exceeded: result.exceeded } as const;
  if (await refuseMessage(work, message, refusal)) notifyWriter(work.deps, message, refusalSentence(refusal));
  return undefined;
}

/** The limits for a writer: of a workflow's steps, which are nobody's, only the workspace's count. */
export function quotasOf(person: string, quotas: TurnLimits): TurnLimits {
  return person === WORKFLOW_STEP ? { ...quotas, hourPerson: 0, atOncePerson: 0 } : quotas;
}
