import type { Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { MessagesPaused, TurnEnded } from '../runtime/turn-errors.ts';

/**
 * The turn as it is now, where its message may still go. To be called under the thread's lock, in the transaction that
 * records the next step: a stop that is asked for later finds that step. Throws TurnEnds where the turn was stopped
 * or is gone, and Held where the run that it was to be passed on to was stopped.
 */
export async function unlessStopped(
  { turns, pausedThreads: holds }: Pick<Store, 'turns' | 'pausedThreads'>,
  { workspace, id }: Pick<Turn, 'workspace' | 'id'>,
): Promise<Turn> {
  const now = await turns.get(workspace, id);
  if (now === undefined) throw new TurnEnded('withdrawn', null);
  if (now.stop_asked_at !== null) throw new TurnEnded('cancelled', null);
  if (now.passed_on_by === null) return now;
  const run = await turns.get(workspace, now.passed_on_by);
  const isStopping = run !== undefined && run.finished_at === null && run.stop_asked_at !== null;
  if (isStopping || (await holds.pausedBy(now)) !== undefined) throw new MessagesPaused();
  return now;
}
