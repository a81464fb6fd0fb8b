import type { Transaction } from 'kysely';
import { AgentError, AgentNotFoundError } from '../../agent/errors.ts';
import { resultMessages } from '../../render/messages/result-list.ts';
import * as strings from '../../render/strings/index.ts';
import type { ThreadKey } from '../../store/keys.ts';
import type { MessageContent, Tables, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { NewMessage } from '../../store/threads/messages.ts';
import { messageKeyOf, taskIdOf } from '../../store/threads/turns.ts';
import { mayUseControl } from '../access/control-permission.ts';
import { toShownResult } from '../replies/result-posts.ts';
import { type ControlOutcome, type ControlRequest, type Press, turnOf } from '../runtime/control-types.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import { sendEphemeral } from '../runtime/ephemeral-messages.ts';
import type { PausedMessages } from './paused-messages.ts';
import type { StopControl } from './stop-control.ts';

/** What a button says to the agent. */
type FollowUpMessage = Pick<NewMessage, 'words' | 'resends' | 'asksAgain'>;

/**
 * What people do about a turn: handled at once by the process that hears it, never queued behind the turn. The turn
 * itself, wherever it runs, sees the effect at the service or in its row.
 */
export class ButtonActions {
  readonly #deps: RelayDeps;
  readonly #stopControl: Pick<StopControl, 'requestStop'>;
  readonly #pausedMessages: Pick<PausedMessages, 'resume' | 'takeBack' | 'onWaitingChanged'>;

  constructor(
    deps: RelayDeps,
    stopControl: Pick<StopControl, 'requestStop'>,
    pausedMessages: Pick<PausedMessages, 'resume' | 'takeBack' | 'onWaitingChanged'>,
  ) {
    this.#deps = deps;
    this.#stopControl = stopControl;
    this.#pausedMessages = pausedMessages;
  }

  /** Stops a turn: gracefully, and at once where it is asked for again. */
  async stop(press: Press): Promise<ControlOutcome> {
    return this.#stopControl.requestStop(press);
  }

  /** Lets go what is held in a thread since a turn of it was stopped. */
  async resume(press: Press): Promise<ControlOutcome> {
    return this.#pausedMessages.resume(press);
  }

  /** Takes back what is held. */
  async takeBack(press: Press): Promise<ControlOutcome> {
    return this.#pausedMessages.takeBack(press);
  }

  /** Asks the agent to go on where an answer was cut off at the length limit; once for each turn. */
  async continue(press: Press): Promise<ControlOutcome> {
    return this.#addFollowUp(press, 'continue', async () => ({ words: { text: strings.continueMessage } }));
  }

  /** Sends a failed or stopped turn's message again, word for word and with the same files; once for each turn. */
  async retry(press: Press): Promise<ControlOutcome> {
    return this.#addFollowUp(press, 'retry', async (turn, store) => {
      const content = (await store.messages.get(messageKeyOf(turn)))?.words ?? undefined;
      return content && { words: content, resends: turn.id };
    });
  }

  /** Sends the new words of a message that was changed after it was sent; each change once. */
  async correct(press: Press): Promise<ControlOutcome> {
    const { workspace, person, ts } = press;
    const known = await this.#permittedTurn(press, 'correct');
    if (typeof known === 'string') return known;
    const outcome = await this.#deps.store.transaction(async (store, trx) => {
      const { channel, root } = known;
      const change = await store.earlyEdits.claim(messageKeyOf(known), ts);
      if (change?.words == null) return 'over';
      const content = { ...change.words, text: `${strings.correctionPrefix} ${change.words.text}` };
      // The words are those of who changed the message: they leave with that person.
      const row = { ts, person, words: textOnly(content), asksAgain: known.id };
      await this.#addWaitingMessage(store, trx, { workspace, channel, root }, row);
      return 'done';
    });
    return this.#notifyPausedMessages(outcome, press, known);
  }

  /** Shows the presser new links to the results of a turn; only the presser sees them. */
  async freshLinks(press: Press): Promise<ControlOutcome> {
    const { workspace, person } = press;
    const { store } = this.#deps;
    const turn = await this.#permittedTurn(press, 'fresh_links', { harmless: true });
    if (typeof turn === 'string') return turn;
    const thread = await store.threads.getOrThrow(turn);
    const taskId = taskIdOf(turn, thread);
    if (taskId === null) return 'unknown';
    const claimed = await store.results.ofThread(turn);
    const all = await this.#readResults(thread.account, taskId, turn);
    if (typeof all === 'string') return all;
    const results = all
      .filter(({ id }) => claimed.get(id)?.turn === turn.id)
      .map((result) => toShownResult(result));
    if (results.length === 0) return 'gone';
    const { channel, root: threadTs } = turn;
    for (const message of resultMessages(results)) {
      await sendEphemeral(this.#deps, { workspace, channel, person, threadTs }, message);
    }
    return 'done';
  }

  async #readResults(account: string, taskId: string, turn: Turn) {
    try {
      return await this.#deps.agent(account).allResults(taskId);
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      if (error instanceof AgentNotFoundError) return 'gone';
      this.#deps.log.warn({ err: error, turn: turn.id }, 'the results of a turn cannot be read');
      return 'away';
    }
  }

  /** A message that a button writes: it waits in the thread like any other. */
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
      const { channel, root } = turn;
      await this.#addWaitingMessage(store, trx, { workspace, channel, root }, { ts, person, ...message });
      return 'done';
    });
    return this.#notifyPausedMessages(outcome, press, known);
  }

  /** What a button wrote may wait in a held thread: the post there says how many do. */
  #notifyPausedMessages(
    outcome: ControlOutcome,
    { workspace, ts }: Press,
    { channel }: Turn,
  ): ControlOutcome {
    if (outcome === 'done') this.#pausedMessages.onWaitingChanged({ workspace, channel, ts });
    return outcome;
  }

  /** The turn that is meant, where the person may use this control; else what became of it. */
  async #permittedTurn(
    request: ControlRequest,
    control: string,
    options: { harmless?: boolean } = {},
  ): Promise<Turn | 'unknown' | 'refused'> {
    const turn = await turnOf(this.#deps.store, request);
    if (turn === undefined) return 'unknown';
    const { workspace, person } = request;
    const { channel, root } = turn;
    const use = { workspace, channel, root, person, turn, control, ...options };
    return (await mayUseControl(this.#deps, use)) ? turn : 'refused';
  }

  async #addWaitingMessage(
    store: Store,
    trx: Transaction<Tables>,
    thread: ThreadKey,
    { ts, ...message }: { ts: string; person: string } & FollowUpMessage,
  ): Promise<void> {
    const { workspace, channel, root } = thread;
    const row = { ...message, root, state: 'waiting', editedTs: null } as const;
    await store.messages.add({ workspace, channel, ts }, row);
    await this.#deps.enqueue(trx, thread);
  }
}

/** The text alone counts: the blocks say the words without the prefix, and the files went with the message. */
function textOnly({ text }: MessageContent): MessageContent {
  return { text };
}
