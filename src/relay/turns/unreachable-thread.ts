import { AgentBusyError, AgentError } from '../../agent/errors.ts';
import * as strings from '../../render/strings/index.ts';
import type { Turn } from '../../store/schema.ts';
import type { RelayDeps, ThreadWork } from '../runtime/deps.ts';
import { withPatience } from '../runtime/giving-up.ts';
import { isBotId } from '../runtime/incoming-message.ts';
import { transientFailure, withRetry } from '../runtime/outage-waits.ts';
import { postOnce, SLACK_CALL_LIFETIME_MS } from '../runtime/unknown-outcome.ts';

/** The thread of a turn's reply is unreachable: stops the run gracefully, and tells the asker in a direct message. */
export async function handleUnreachableThread(work: ThreadWork, turn: Turn): Promise<void> {
  const { deps, workspace, lease } = work;
  const { account_id, task_id } = await deps.store.threads.getOrThrow(turn);
  if (task_id !== null && turn.user_message_id !== null && turn.settled_at === null) {
    // Nobody can see a wait.
    await withRetry(
      lease,
      () => cancelTask(deps, account_id, task_id),
      () => undefined,
    );
  }
  const about = {
    workspace: workspace.id,
    turn: turn.id,
    step: 'telling the asker that the thread is unreachable',
  };
  await withPatience(work, createAskerNotifier(work, turn), { about, orElse: () => undefined });
}

async function cancelTask(deps: RelayDeps, account: string, taskId: string): Promise<void> {
  try {
    await deps.agent(account).cancelTask(taskId);
  } catch (error) {
    const mayPass = transientFailure(error) !== undefined && !(error instanceof AgentBusyError);
    if (!(error instanceof AgentError) || mayPass) throw error;
    // The task is gone, has nothing to stop, or cannot be stopped: the asker is told anyway.
    deps.log.info({ err: error, taskId }, 'could not stop a task whose thread is unreachable');
  }
}

/** A function that tells the asker in a direct message, once: each retry looks for the post of the attempt before. */
function createAskerNotifier(
  { deps: { store }, workspace, lease }: ThreadWork,
  turn: Turn,
): () => Promise<void> {
  const message = async () => ({ text: strings.replyUnreachable(turn.channel) });
  // An earlier process may have told them; its calls have ended with its lease.
  let intendedAt = new Date(Math.min(turn.started_at.getTime(), Date.now() - SLACK_CALL_LIFETIME_MS));
  const record = async () => {
    intendedAt = new Date();
  };
  return async () => {
    // The turn may have been reassigned to another person's earlier message since it was read.
    const { asked_by } = (await store.turns.get(turn.workspace, turn.id)) ?? turn;
    if (isBotId(asked_by)) return;
    const channel = await workspace.posting.openDm(asked_by, lease);
    const post = { channel, key: `${turn.id}/asker`, kind: 'notice', message } as const;
    await postOnce(workspace, post, { at: intendedAt, record }, lease);
  };
}
