import type { Excess } from '../../store/allowances.ts';
import type { Message, Turn } from '../../store/tables.ts';
import type { RelayParts } from '../context.ts';

/** Begins the turn of a message, unless one more is too many. `passedOnBy` is the running turn that sends it. */
export async function beginWithin(
  { store, settings }: RelayParts,
  id: string,
  message: Message,
  passedOnBy: string | null,
): Promise<{ turn: Turn } | { excess: Excess }> {
  return store.transaction(async (inside) => {
    await inside.allowances.lock(message.workspace);
    const excess = await inside.allowances.excess(message.workspace, message.person, settings.limits);
    if (excess !== undefined) return { excess };
    return { turn: await inside.turns.begin(id, message, passedOnBy) };
  });
}
