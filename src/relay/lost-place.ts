import { AgentBusyError, AgentError } from '../agent/errors.ts';
import * as words from '../reply/words.ts';
import { LeaseEnded, SlackError } from '../slack/errors.ts';
import type { Turn } from '../store/tables.ts';
import type { RelayParts, Workspace } from './context.ts';
import type { Lease } from './lease.ts';
import { passing, patiently } from './patience.ts';
import { slackOverMs, untilOver } from './settling.ts';

/** An asker whom Slack does not let us tell for so long (ms) is not told. */
const tellingPatienceMs = 10 * 60_000;

/** Slack has no place for a turn's reply any more: its run is stopped gracefully, and the asker told directly. */
export async function losePlace(
  parts: RelayParts,
  workspace: Workspace,
  turn: Turn,
  lease: Lease,
): Promise<void> {
  const { account, task_id } = await parts.store.threads.expect(turn);
  if (task_id !== null && turn.user_message_id !== null && turn.settled_at === null) {
    await patiently(lease, () => cancel(parts, account, task_id), quietly);
  }
  const tellAsker = tellingAsker(parts, workspace, turn, lease);
  try {
    await patiently(lease, tellAsker, quietly, { mostMs: tellingPatienceMs });
  } catch (error) {
    if (!(error instanceof SlackError) || error instanceof LeaseEnded) throw error;
    parts.log.warn({ err: error, turn: turn.id }, 'the asker could not be told');
  }
}

async function cancel(parts: RelayParts, account: string, taskId: string): Promise<void> {
  try {
    await parts.agent(account).cancelTask(taskId);
  } catch (error) {
    const waits = passing(error) !== undefined && !(error instanceof AgentBusyError);
    if (!(error instanceof AgentError) || waits) throw error;
    // It is gone, or has nothing to stop any more, or takes no stop: the asker is told all the same.
    parts.log.info({ err: error, task: taskId }, 'a task was not stopped');
  }
}

/** Tells the asker directly, once, however often it is called: what an earlier try came to is looked for first. */
function tellingAsker(
  { store }: RelayParts,
  { posting, readBack }: Workspace,
  turn: Turn,
  guard: Lease,
): () => Promise<void> {
  const key = `${turn.id}/asker`;
  const message = { text: words.replyLost(turn.channel) };
  let triedAt: Date | undefined;
  const beforeSend = async () => {
    triedAt = new Date();
  };
  return async () => {
    // It may have been given to somebody else's earlier message since `turn` was read.
    const { asker } = (await store.turns.get(turn.workspace, turn.id)) ?? turn;
    const channel = await posting.openDm(asker, guard);
    if (triedAt !== undefined) await untilOver(triedAt, slackOverMs, guard);
    const found = await readBack.find({ channel, key, intendedAt: turn.started_at, guard });
    if (found === undefined) await posting.post({ channel, message, key, kind: 'notice', guard, beforeSend });
  };
}

function quietly(): void {
  // Nobody is left in the thread to be told of a wait.
}
