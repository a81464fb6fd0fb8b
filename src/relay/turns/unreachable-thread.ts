import { AgentBusyError, AgentError } from '../../agent/errors.ts';
import * as strings from '../../render/strings/index.ts';
import { SlackError, SlackLeaseError } from '../../slack/errors.ts';
import type { Turn } from '../../store/schema.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import type { Lease } from '../runtime/lease.ts';
import { transientFailure, withRetry } from '../runtime/retry.ts';
import { SLACK_CALL_LIFETIME_MS, waitUntilCallEnded } from '../runtime/unknown-outcome.ts';

/** An asker whom Slack does not let us tell for so long (ms) is not told. */
const ASKER_NOTICE_TIMEOUT_MS = 10 * 60_000;

/** Slack has no place for a turn's reply any more: its run is stopped gracefully, and the asker told directly. */
export async function handleUnreachableThread(
  deps: RelayDeps,
  workspace: WorkspaceClient,
  turn: Turn,
  lease: Lease,
): Promise<void> {
  const { account, task_id } = await deps.store.threads.getOrThrow(turn);
  if (task_id !== null && turn.user_message_id !== null && turn.settled_at === null) {
    await withRetry(lease, () => cancelTask(deps, account, task_id), ignoreWait);
  }
  const notifyAsker = createAskerNotifier(deps, workspace, turn, lease);
  try {
    await withRetry(lease, notifyAsker, ignoreWait, { giveUpAfterMs: ASKER_NOTICE_TIMEOUT_MS });
  } catch (error) {
    if (!(error instanceof SlackError) || error instanceof SlackLeaseError) throw error;
    deps.log.warn({ err: error, turn: turn.id }, 'the asker could not be told');
  }
}

async function cancelTask(deps: RelayDeps, account: string, taskId: string): Promise<void> {
  try {
    await deps.agent(account).cancelTask(taskId);
  } catch (error) {
    const waits = transientFailure(error) !== undefined && !(error instanceof AgentBusyError);
    if (!(error instanceof AgentError) || waits) throw error;
    // It is gone, or has nothing to stop any more, or takes no stop: the asker is told all the same.
    deps.log.info({ err: error, task: taskId }, 'a task was not stopped');
  }
}

/** Tells the asker directly, once, however often it is called: what an earlier try came to is looked for first. */
function createAskerNotifier(
  { store }: RelayDeps,
  { posting, readBack }: WorkspaceClient,
  turn: Turn,
  guard: Lease,
): () => Promise<void> {
  const key = `${turn.id}/asker`;
  const message = { text: strings.replyUnreachable(turn.channel) };
  let attemptedAt: Date | undefined;
  const beforeSend = async () => {
    attemptedAt = new Date();
  };
  return async () => {
    // It may have been given to somebody else's earlier message since `turn` was read.
    const { asker } = (await store.turns.get(turn.workspace, turn.id)) ?? turn;
    const channel = await posting.openDm(asker, guard);
    if (attemptedAt !== undefined) await waitUntilCallEnded(attemptedAt, SLACK_CALL_LIFETIME_MS, guard);
    const found = await readBack.findOwnPost({ channel, key, intendedAt: turn.started_at, guard });
    if (found === undefined) await posting.post({ channel, message, key, kind: 'notice', guard, beforeSend });
  };
}

function ignoreWait(): void {
  // Nobody is left in the thread to be told of a wait.
}
