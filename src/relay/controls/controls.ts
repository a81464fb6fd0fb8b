import type { Transaction } from 'kysely';
import { resultMessages } from '../../reply/results.ts';
import * as words from '../../reply/words.ts';
import type { Store } from '../../store/store.ts';
import type { Tables, Turn, Words } from '../../store/tables.ts';
import type { ThreadKey } from '../../store/threads.ts';
import type { RelayParts } from '../context.ts';
import { isGone } from '../showing/follow.ts';
import { shownResult } from '../showing/results.ts';

/** What became of a control. */
export type ControlOutcome = 'done' | 'over' | 'unknown';

/** A control as a person gave it. */
export interface ControlRequest {
  workspace: string;
  turnId: string;
  person: string;
}

/** A press on a button below a message of ours. */
export interface Press extends ControlRequest {
  /** When the button was pressed, as Slack's action_ts: the ts of the message that the press stands for. */
  ts: string;
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
  async stop(request: ControlRequest): Promise<ControlOutcome> {
    const { workspace, turnId, person } = request;
    const { store, log } = this.#parts;
    const turn = await store.turns.askStop(workspace, turnId, person);
    if (turn === undefined) return this.#missing(store, request);
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
  async continue(press: Press): Promise<ControlOutcome> {
    return this.#followUp(press, async () => ({ text: words.continueMessage }));
  }

  /** Sends a failed turn's message again, with the same files; once for each turn. */
  async retry(press: Press): Promise<ControlOutcome> {
    return this.#followUp(press, async (turn, store) => {
      const { workspace, channel, message_ts: ts } = turn;
      return (await store.messages.get({ workspace, channel, ts }))?.words ?? undefined;
    });
  }

  /** Sends the new words of a message that was changed after it was sent; each change once. */
  async correct(press: Press): Promise<ControlOutcome> {
    const { workspace, turnId, person, ts } = press;
    return this.#parts.store.transaction(async (store, trx) => {
      const turn = await store.turns.get(workspace, turnId);
      if (turn === undefined) return 'unknown';
      const { channel, root, message_ts } = turn;
      const change = await store.messages.takeChange({ workspace, channel, ts: message_ts });
      if (change?.words == null) return 'over';
      const said = { ...change.words, text: `${words.correctionPrefix} ${change.words.text}` };
      await this.#add(store, trx, { workspace, channel, root }, { ts, person, words: withoutBlocks(said) });
      return 'done';
    });
  }

  /** Shows the presser new links to the results of a turn; only the presser sees them. */
  async freshLinks({ workspace, turnId, person }: Press): Promise<ControlOutcome> {
    const { store } = this.#parts;
    const turn = await store.turns.get(workspace, turnId);
    const posting = this.#parts.workspace(workspace)?.posting;
    if (turn === undefined || posting === undefined) return 'unknown';
    const thread = await store.threads.expect(turn);
    if (thread.task_id === null) return 'unknown';
    const claimed = await store.results.of(turn);
    const all = await this.#parts.agent(thread.account).allResults(thread.task_id);
    const results = all
      .filter(({ id }) => claimed.get(id)?.turn === turn.id)
      .map((result) => shownResult(result));
    if (results.length === 0) return 'unknown';
    for (const message of resultMessages(results)) {
      await posting.ephemeral({ channel: turn.channel, user: person, threadTs: turn.root, message });
    }
    return 'done';
  }

  /** A message that a button writes: it waits in the thread like any other. */
  async #followUp(
    press: Press,
    wordsOf: (turn: Turn, store: Store) => Promise<Words | undefined>,
  ): Promise<ControlOutcome> {
    const { workspace, turnId, person, ts } = press;
    return this.#parts.store.transaction(async (store, trx) => {
      const turn = await store.turns.claimFollowUp(workspace, turnId);
      if (turn === undefined) return this.#missing(store, press);
      const said = await wordsOf(turn, store);
      if (said === undefined) return 'unknown';
      const { channel, root } = turn;
      await this.#add(store, trx, { workspace, channel, root }, { ts, person, words: said });
      return 'done';
    });
  }

  async #add(
    store: Store,
    trx: Transaction<Tables>,
    thread: ThreadKey,
    message: { ts: string; person: string; words: Words },
  ): Promise<void> {
    const { ts, person, words: said } = message;
    const { workspace, channel, root } = thread;
    const row = { root, person, state: 'waiting', words: said, editedTs: null } as const;
    await store.messages.add({ workspace, channel, ts }, row);
    await this.#parts.enqueue(trx, thread);
  }

  async #missing(store: Store, { workspace, turnId }: ControlRequest): Promise<ControlOutcome> {
    return (await store.turns.get(workspace, turnId)) === undefined ? 'unknown' : 'over';
  }
}

/** The text alone counts: the blocks say the words without the prefix, and the files went with the message. */
function withoutBlocks({ text }: Words): Words {
  return { text };
}
