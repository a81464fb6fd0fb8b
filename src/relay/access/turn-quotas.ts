import type { Message, Turn } from '../../store/schema.ts';
import type { QuotaExceeded } from '../../store/threads/turn-usage.ts';
import type { RelayDeps } from '../runtime/deps.ts';

/** Begins the turn of a message, unless one more is too many. `passedOnBy` is the running turn that sends it. */
export async function beginTurnWithinQuotas(
  { store, settings }: RelayDeps,
  id: string,
  message: Message,
  passedOnBy: string | null,
): Promise<{ turn: Turn } | { excess: QuotaExceeded }> {
  return store.transaction(async (trxStore) => {
    await trxStore.turnUsage.lockWorkspace(message.workspace);
    const excess = await trxStore.turnUsage.exceeded(message.workspace, message.person, settings.quotas);
    if (excess !== undefined) return { excess };
    return { turn: await trxStore.turns.begin(id, message, passedOnBy) };
  });
}
