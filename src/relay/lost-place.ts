import { AgentNotFoundError } from '../agent/errors.ts';
import * as words from '../reply/words.ts';
import { LeaseEnded, SlackError } from '../slack/errors.ts';
import type { Turn } from '../store/tables.ts';
import type { RelayParts, Workspace } from './context.ts';
import type { Lease } from './lease.ts';
import { patiently } from './patience.ts';
import { slackOverMs, untilOver } from './settling.ts';

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
  const telling = new Telling(parts, workspace, turn, lease);
  try {
    await patiently(lease, () => telling.go(), quietly);
  } catch (error) {
    if (!(error instanceof SlackError) || error instanceof LeaseEnded) throw error;
    parts.log.warn({ err: error, turn: turn.id }, 'the asker could not be told');
  }
}

async function cancel(parts: RelayParts, account: string, taskId: string): Promise<void> {
  try {
    await parts.agent(account).cancelTask(taskId);
  } catch (error) {
    if (!(error instanceof AgentNotFoundError)) throw error;
  }
}

/** Tells the asker directly, once: before each try it is looked for what an earlier one came to. */
class Telling {
  readonly #parts: RelayParts;
  readonly #workspace: Workspace;
  readonly #turn: Turn;
  readonly #lease: Lease;
  #intendedAt: Date | undefined;

  constructor(parts: RelayParts, workspace: Workspace, turn: Turn, lease: Lease) {
    this.#parts = parts;
    this.#workspace = workspace;
    this.#turn = turn;
    this.#lease = lease;
  }

  async go(): Promise<void> {
    const { posting, readBack } = this.#workspace;
    const { id, workspace, started_at: intendedAt } = this.#turn;
    // It may have been given to somebody else's earlier message since it was read.
    const { asker } = (await this.#parts.store.turns.get(workspace, id)) ?? this.#turn;
    const guard = this.#lease;
    const channel = await posting.openDm(asker, guard);
    const key = `${id}/asker`;
    if (this.#intendedAt !== undefined) await untilOver(this.#intendedAt, slackOverMs, guard);
    if ((await readBack.find({ channel, key, intendedAt, guard })) !== undefined) return;
    const message = { text: words.replyLost(this.#turn.channel) };
    const beforeSend = async () => {
      this.#intendedAt = new Date();
    };
    await posting.post({ channel, message, key, kind: 'notice', guard, beforeSend });
  }
}

function quietly(): void {
  // Nobody is left in the thread to be told of a wait.
}
