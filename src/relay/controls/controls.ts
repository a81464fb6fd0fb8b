import type { Transaction } from 'kysely';
import { AgentError, AgentNotFoundError } from '../../agent/errors.ts';
import { resultMessages } from '../../reply/results.ts';
import * as words from '../../reply/words.ts';
import type { ThreadKey } from '../../store/keys.ts';
import type { NewMessage } from '../../store/messages.ts';
import type { Store } from '../../store/store.ts';
import type { Tables, Turn, Words } from '../../store/tables.ts';
import { messageKeyOf, taskIdOf } from '../../store/turns.ts';
import type { RelayParts } from '../context.ts';
import { shownResult } from '../showing/results.ts';
import { tell } from '../telling.ts';
import { type ControlOutcome, type ControlRequest, type Press, turnOf } from './control.ts';
import type { Holding } from './holding.ts';
import { permits } from './permission.ts';
import type { Stopping } from './stopping.ts';

/** What a button says to the agent. */
type Saying = Pick<NewMessage, 'words' | 'resends' | 'asksAgain'>;

/**
 * What people do about a turn: handled at once by the process that hears it, never queued behind the turn. The turn
 * itself, wherever it runs, sees the effect at the service or in its row.
 */
export class Controls {
  readonly #parts: RelayParts;
  readonly #stopping: Pick<Stopping, 'ask'>;
  readonly #holding: Pick<Holding, 'go' | 'takeBack' | 'changed'>;

  constructor(
    parts: RelayParts,
    stopping: Pick<Stopping, 'ask'>,
    holding: Pick<Holding, 'go' | 'takeBack' | 'changed'>,
  ) {
    this.#parts = parts;
    this.#stopping = stopping;
    this.#holding = holding;
  }

  /** Stops a turn: gracefully, and at once where it is asked for again. */
  async stop(press: Press): Promise<ControlOutcome> {
    return this.#stopping.ask(press);
  }

  /** Lets go what is held in a thread since a turn of it was stopped. */
  async go(press: Press): Promise<ControlOutcome> {
    return this.#holding.go(press);
  }

  /** Takes back what is held. */
  async takeBack(press: Press): Promise<ControlOutcome> {
    return this.#holding.takeBack(press);
  }

  /** Asks the agent to go on where an answer was cut off at the length limit; once for each turn. */
  async continue(press: Press): Promise<ControlOutcome> {
    return this.#followUp(press, 'continue', async () => ({ words: { text: words.continueMessage } }));
  }

  /** Sends a failed or stopped turn's message again, word for word and with the same files; once for each turn. */
  async retry(press: Press): Promise<ControlOutcome> {
    return this.#followUp(press, 'retry', async (turn, store) => {
      const said = (await store.messages.get(messageKeyOf(turn)))?.words ?? undefined;
      return said && { words: said, resends: turn.id };
    });
  }

  /** Sends the new words of a message that was changed after it was sent; each change once. */
  async correct(press: Press): Promise<ControlOutcome> {
    const { workspace, person, ts } = press;
    const known = await this.#permitted(press, 'correct');
    if (typeof known === 'string') return known;
    const outcome = await this.#parts.store.transaction(async (store, trx) => {
      const { channel, root } = known;
      const change = await store.messages.takeChange(messageKeyOf(known), ts);
      if (change?.words == null) return 'over';
      const said = { ...change.words, text: `${words.correctionPrefix} ${change.words.text}` };
      // The words are those of who changed the message: they leave with that person.
      const row = { ts, person, words: withoutBlocks(said), asksAgain: known.id };
      await this.#add(store, trx, { workspace, channel, root }, row);
      return 'done';
    });
    return this.#written(outcome, press, known);
  }

  /** Shows the presser new links to the results of a turn; only the presser sees them. */
  async freshLinks(press: Press): Promise<ControlOutcome> {
    const { workspace, person } = press;
    const { store } = this.#parts;
    const turn = await this.#permitted(press, 'fresh_links', { harmless: true });
    if (typeof turn === 'string') return turn;
    const thread = await store.threads.expect(turn);
    const taskId = taskIdOf(turn, thread);
    if (taskId === null) return 'unknown';
    const claimed = await store.results.of(turn);
    const all = await this.#resultsOf(thread.account, taskId, turn);
    if (typeof all === 'string') return all;
    const results = all
      .filter(({ id }) => claimed.get(id)?.turn === turn.id)
      .map((result) => shownResult(result));
    if (results.length === 0) return 'gone';
    const { channel, root: threadTs } = turn;
    for (const message of resultMessages(results)) {
      await tell(this.#parts, { workspace, channel, person, threadTs }, message);
    }
    return 'done';
  }

  async #resultsOf(account: string, taskId: string, turn: Turn) {
    try {
      return await this.#parts.agent(account).allResults(taskId);
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      if (error instanceof AgentNotFoundError) return 'gone';
      this.#parts.log.warn({ err: error, turn: turn.id }, 'the results of a turn cannot be read');
      return 'away';
    }
  }

  /** A message that a button writes: it waits in the thread like any other. */
  async #followUp(
    press: Press,
    control: string,
    sayingOf: (turn: Turn, store: Store) => Promise<Saying | undefined>,
  ): Promise<ControlOutcome> {
    const { workspace, turnId, person, ts } = press;
    const known = await this.#permitted(press, control);
    if (typeof known === 'string') return known;
    if (known.settled_at === null && known.finished_at === null) return 'running';
    const outcome = await this.#parts.store.transaction(async (store, trx) => {
      const turn = await store.turns.claimFollowUp(workspace, turnId, ts);
      if (turn === undefined) return 'over';
      const saying = await sayingOf(turn, store);
      if (saying === undefined) return 'unknown';
      const { channel, root } = turn;
      await this.#add(store, trx, { workspace, channel, root }, { ts, person, ...saying });
      return 'done';
    });
    return this.#written(outcome, press, known);
  }

  /** What a button wrote may wait in a held thread: the post there says how many do. */
  #written(outcome: ControlOutcome, { workspace, ts }: Press, { channel }: Turn): ControlOutcome {
    if (outcome === 'done') this.#holding.changed({ workspace, channel, ts });
    return outcome;
  }

  /** The turn that is meant, where the person may use this control; else what became of it. */
  async #permitted(
    request: ControlRequest,
    control: string,
    manner: { harmless?: boolean } = {},
  ): Promise<Turn | 'unknown' | 'refused'> {
    const turn = await turnOf(this.#parts.store, request);
    if (turn === undefined) return 'unknown';
    const { workspace, person } = request;
    const { channel, root } = turn;
    const use = { workspace, channel, root, person, turn, control, ...manner };
    return (await permits(this.#parts, use)) ? turn : 'refused';
  }

  async #add(
    store: Store,
    trx: Transaction<Tables>,
    thread: ThreadKey,
    { ts, ...message }: { ts: string; person: string } & Saying,
  ): Promise<void> {
    const { workspace, channel, root } = thread;
    const row = { ...message, root, state: 'waiting', editedTs: null } as const;
    await store.messages.add({ workspace, channel, ts }, row);
    await this.#parts.enqueue(trx, thread);
  }
}

/** The text alone counts: the blocks say the words without the prefix, and the files went with the message. */
function withoutBlocks({ text }: Words): Words {
  return { text };
}
