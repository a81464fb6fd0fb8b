import { AgentError, isBusy } from '../../agent/errors.ts';
import type { Turn } from '../../store/schema.ts';
import { isAtService, isSendInDoubt } from '../../store/threads/turn-phase.ts';
import type { RelayDeps, ThreadWork } from '../runtime/deps.ts';
import { transientFailure } from '../runtime/retry-and-giving-up.ts';
import type { TurnRow } from '../runtime/turn-row.ts';
import { settleSends } from '../sending/delivery.ts';

/** Runs a step, and retries it after transient errors. */
type Retry = <T>(step: () => Promise<T>) => Promise<T>;

/** After more attempts than this, a turn does not look for its message: the look itself may crash processes. */
const MAX_ATTEMPTS = 10;

/**
 * Looks for the message of a turn that ends while nobody knows whether it was sent, and cancels the run that has it.
 * If the look tells nothing, cancels the task's run only if a person stopped the turn: else **Try again** looks once
 * more. Throws an Interruption, an AgentError, a StoreError, or the lease's reason.
 */
export async function cancelRunInDoubt(work: ThreadWork & { row: TurnRow }, retry: Retry): Promise<void> {
  const { row, deps, lease } = work;
  if (isAtService(row.turn)) return;
  const turn = await deps.store.turns.get(row.turn.workspace, row.turn.id);
  if (turn === undefined || !isSendInDoubt(row.learn(turn))) return;
  const { account_id, task_id: taskId } = await deps.store.threads.getOrThrow(turn);
  if (taskId !== null && turn.attempts <= MAX_ATTEMPTS) {
    const settle = () => settleSends({ ...work, agent: deps.agent(account_id), taskId });
    await retry(settle).catch((err: unknown) => {
      if (!(err instanceof AgentError) || lease.remainingMs() <= 0) throw err;
      deps.log.warn({ err, turn: turn.id }, 'a turn ends while nobody knows whether its message was sent');
    });
  }
  // The look has recorded in `row` what it found.
  const isStoppedInDoubt = isSendInDoubt(row.turn) && turn.stop_requested_at !== null;
  if (isAtService(row.turn) || isStoppedInDoubt) await cancelRun(deps, row.turn, retry);
}

/** Cancels the task of a turn's thread, unless it is gone, has nothing to stop (`busy`), or the service refuses. */
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
