import type { Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { MessagesPaused, TurnEnded } from '../runtime/turn-interruptions.ts';

/**
 * The turn as it is now, if its message may still be sent. Call it under the thread's lock, in the transaction that
 * records the next step: a later stop then finds that step. Throws TurnEnded where the turn was stopped or is gone, and
 * MessagesPaused where the run that the message was to be forwarded to was stopped.
 */
export async function unlessStopped(
  { turns, pausedThreads }: Pick<Store, 'turns' | 'pausedThreads'>,
  { workspace, id }: Pick<Turn, 'workspace' | 'id'>,
): Promise<Turn> {
  const now = await turns.get(workspace, id);
  if (now === undefined) throw new TurnEnded('withdrawn', null);
  if (now.stop_requested_at !== null) throw new TurnEnded('cancelled', null);
  if (now.forwarded_by_turn_id === null) return now;
  const run = await turns.get(workspace, now.forwarded_by_turn_id);
  const isStopping = run !== undefined && run.finished_at === null && run.stop_requested_at !== null;
  if (isStopping || (await pausedThreads.pausedBy(now)) !== undefined) throw new MessagesPaused();
  return now;
}
