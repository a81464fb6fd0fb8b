import { AgentError, isBusy } from '../../agent/errors.ts';
import type { Turn, TurnId } from '../../store/schema.ts';
import { isAtService, isSendInDoubt } from '../../store/threads/turn-phase.ts';
import type { RelayDeps, ThreadWork } from '../runtime/deps.ts';
import { transientFailure } from '../runtime/retry-and-giving-up.ts';
import { settleSends } from '../sending/delivery.ts';

/** Runs a step, and retries it after transient errors. */
type Retry = <T>(step: () => Promise<T>) => Promise<T>;

/** After so many attempts without progress, perhaps ended by the look itself, a message in doubt is not looked for. */
const MAX_LOOKS = 10;

/**
 * A turn ends early although the service may have its message: looks for it, and cancels its run. If nobody can tell, it
 * cancels only what a person stopped: Try again looks for the message, too. Throws what `retry` does, except an AgentError.
 */
export async function cancelRunInDoubt(
  work: ThreadWork,
  { workspace, id }: TurnId,
  retry: Retry,
): Promise<void> {
  const turn = await work.deps.store.turns.get(workspace, id);
  if (turn === undefined || !isSendInDoubt(turn)) return;
  const settled = turn.attempts > MAX_LOOKS ? turn : await settle(work, turn, retry);
  if (isAtService(settled) || (isSendInDoubt(settled) && turn.stop_requested_at !== null))
    await cancelRun(work.deps, settled, retry);
}

/** The turn, which stays in doubt if the service does not tell. */
async function settle(work: ThreadWork, turn: Turn, retry: Retry): Promise<Turn> {
  const { deps } = work;
  const { account_id, task_id: taskId } = await deps.store.threads.getOrThrow(turn);
  if (taskId === null) return turn;
  const look = () => settleSends({ ...work, agent: deps.agent(account_id), taskId }, turn, [turn]);
  return retry(look).catch((error: unknown) => {
    if (!(error instanceof AgentError) || work.lease.remainingMs() <= 0) throw error;
    deps.log.warn(
      { err: error, turn: turn.id },
      'a turn ends while nobody knows whether its message was sent',
    );
    return turn;
  });
}

/** Cancels the task of a turn's thread. One that is gone, has nothing to stop or cannot be stopped is left. */
export async function cancelRun(deps: RelayDeps, turn: Turn, retry: Retry): Promise<void> {
  const { account_id, task_id: taskId } = await deps.store.threads.getOrThrow(turn);
  if (taskId === null) return;
  await retry(async () => {
    try {
      await deps.agent(account_id).cancelTask(taskId);
    } catch (error) {
      const mayPass = transientFailure(error) !== undefined && !isBusy(error);
      if (!(error instanceof AgentError) || mayPass) throw error;
      deps.log.info({ err: error, taskId }, 'could not stop the task of a turn that ends');
    }
  });
}
