import type { Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { MessagesPaused, TurnEnded } from '../runtime/turn-interruptions.ts';

/**
 * Takes a step that a stop must come before or find. Of a turn's own stop, the turn's row says which came first; a message
 * that another run forwards stops with that run, so its step and the check before it have the thread's lock.
 */
export async function lockedIfForwarded<T>(
  store: Store,
  turn: Turn,
  step: (store: Store) => Promise<T>,
): Promise<T> {
  if (turn.forwarded_by_turn_id === null) return step(store);
  return store.transaction(async (locked) => {
    await locked.threads.lock(turn);
    await unlessStopped(locked, turn);
    return step(locked);
  });
}

/**
 * The turn as it is now, if its message may still be sent. Throws TurnEnded if the turn was stopped or is gone, and
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
