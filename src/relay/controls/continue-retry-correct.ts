import type { Transaction } from 'kysely';
import * as strings from '../../render/strings/index.ts';
import type { ThreadKey } from '../../store/keys.ts';
import type { Tables, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { NewMessage } from '../../store/threads/messages.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import { mayUseControl } from '../access/control-permission.ts';
import { type ControlOutcome, type Press, turnOf } from '../runtime/control-types.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import type { PausedMessages } from './paused-messages.ts';

/** The message that a button sends to the agent. */
type FollowUpMessage = Pick<NewMessage, 'content' | 'resends_turn_id' | 'revises_turn_id'>;

/**
 * The buttons that send a message to the agent: continue, try again, send correction. The message is saved at once and
 * waits in its thread like any other.
 */
export class ButtonActions {
  readonly #deps: RelayDeps;
  readonly #pausedMessages: Pick<PausedMessages, 'onWaitingChanged'>;

  constructor(deps: RelayDeps, pausedMessages: Pick<PausedMessages, 'onWaitingChanged'>) {
    this.#deps = deps;
    this.#pausedMessages = pausedMessages;
  }

  /** Asks the agent to continue an answer that was cut off at the length limit; once for each turn. */
  async continue(press: Press): Promise<ControlOutcome> {
    return this.#addFollowUp(press, 'continue', async () => ({ content: { text: strings.continueMessage } }));
  }

  /** Sends the message of a failed or stopped turn again, with the same text and files; once for each turn. */
  async retry(press: Press): Promise<ControlOutcome> {
    return this.#addFollowUp(press, 'retry', async (turn, store) => {
      const content = (await store.messages.get(messageKeyOf(turn)))?.content ?? undefined;
      return content && { content, resends_turn_id: turn.id };
    });
  }

  /** Sends the new text of a message that was edited after it was sent; each edit once. */
  async correct(press: Press): Promise<ControlOutcome> {
    const { workspace, person, ts } = press;
    const turn = await this.#permittedTurn(press, 'correct');
    if (typeof turn === 'string') return turn;
    const outcome = await this.#deps.store.transaction(async (store, trx) => {
      const { channel, thread_ts } = turn;
      const edit = await store.earlyEdits.claim(messageKeyOf(turn), ts);
      if (edit?.content == null) return 'over';
      // Text alone: the blocks lack the prefix, and the files went with the message.
      const words = { text: `${strings.correctionPrefix} ${edit.content.text}` };
      // Saved under the person who edited the message, so that erasing that person erases it too.
      const row = { ts, user_id: person, content: words, revises_turn_id: turn.id };
      await this.#addWaitingMessage(store, trx, { workspace, channel, thread_ts }, row);
      return 'done';
    });
    return this.#afterAdding(outcome, press, turn);
  }

  async #addFollowUp(
    press: Press,
    control: string,
    messageFor: (turn: Turn, store: Store) => Promise<FollowUpMessage | undefined>,
  ): Promise<ControlOutcome> {
    const { workspace, turnId, person, ts } = press;
    const known = await this.#permittedTurn(press, control);
    if (typeof known === 'string') return known;
    if (known.settled_at === null && known.finished_at === null) return 'running';
    const outcome = await this.#deps.store.transaction(async (store, trx) => {
      const turn = await store.turns.claimButton(workspace, turnId, ts);
      if (turn === undefined) return 'over';
      const message = await messageFor(turn, store);
      if (message === undefined) return 'unknown';
      const { channel, thread_ts } = turn;
      await this.#addWaitingMessage(
        store,
        trx,
        { workspace, channel, thread_ts },
        { ts, user_id: person, ...message },
      );
      return 'done';
    });
    return this.#afterAdding(outcome, press, known);
  }

  /** The new message may wait in a paused thread: the notice there shows how many do. */
  #afterAdding(outcome: ControlOutcome, { workspace, ts }: Press, { channel }: Turn): ControlOutcome {
    if (outcome === 'done') this.#pausedMessages.onWaitingChanged({ workspace, channel, ts });
    return outcome;
  }

  async #permittedTurn(press: Press, control: string): Promise<Turn | 'unknown' | 'refused'> {
    const turn = await turnOf(this.#deps.store, press);
    if (turn === undefined) return 'unknown';
    const { workspace, person } = press;
    const { channel, thread_ts } = turn;
    const use = { workspace, channel, thread_ts, person, turn, control };
    return (await mayUseControl(this.#deps, use)) ? turn : 'refused';
  }

  async #addWaitingMessage(
    store: Store,
    trx: Transaction<Tables>,
    thread: ThreadKey,
    { ts, ...message }: { ts: string; user_id: string } & FollowUpMessage,
  ): Promise<void> {
    const { workspace, channel, thread_ts } = thread;
    const row = { ...message, thread_ts, state: 'waiting', editedTs: null } as const;
    await store.messages.add({ workspace, channel, ts }, row);
    await this.#deps.enqueue(trx, thread);
  }
}
