import type { Message, Turn } from '../store/tables.ts';
import type { RelayParts } from './context.ts';
import { isGone } from './follow.ts';

/** What became of a control. */
export type ControlOutcome = 'done' | 'over' | 'unknown';

/** A control as a person gave it. */
export interface ControlRequest {
  workspace: string;
  turnId: string;
  person: string;
}

/**
 * What people do about a turn: handled at once by the process that hears it, never queued behind the turn. The turn
 * itself, wherever it runs, sees the effect at the service or in its row.
 */
export class Controls {
  readonly #parts: RelayParts;

  constructor(parts: RelayParts) {
    this.#parts = parts;
  }

  /** Stops a turn gracefully: one that is not sent yet never is, one that is over is left alone. */
  async stop({ workspace, turnId, person }: ControlRequest): Promise<ControlOutcome> {
    const { store, log } = this.#parts;
    const turn = await store.turns.askStop(workspace, turnId, person);
    if (turn === undefined)
      return (await store.turns.get(workspace, turnId)) === undefined ? 'unknown' : 'over';
    log.info({ turn: turn.id, person }, 'stop asked for');
    const thread = await store.threads.expect(turn);
    if (thread.task_id === null || turn.user_message_id === null) return 'done';
    const agent = this.#parts.agent(thread.account);
    try {
      if (turn.assistant_message_id === null) await agent.cancelTask(thread.task_id);
      else await agent.cancelMessage(thread.task_id, turn.assistant_message_id);
    } catch (error) {
      if (!isGone(error)) throw error;
    }
    return 'done';
  }

  /** Asks the agent to go on where an answer was cut off at the length limit; once for each turn. */
  async continue(request: ControlRequest & { ts: string; text: string }): Promise<ControlOutcome> {
    const { workspace, turnId, person, ts, text } = request;
    return this.#parts.store.transaction(async (store, trx) => {
      const turn: Turn | undefined = await store.turns.claimContinue(workspace, turnId);
      if (turn === undefined)
        return (await store.turns.get(workspace, turnId)) === undefined ? 'unknown' : 'over';
      const { channel, root } = turn;
      const state: Message['state'] = 'waiting';
      const message = { root, person, state, words: { text }, editedTs: null };
      await store.messages.add({ workspace, channel, ts }, message);
      await this.#parts.enqueue(trx, { workspace, channel, root });
      return 'done';
    });
  }
}
