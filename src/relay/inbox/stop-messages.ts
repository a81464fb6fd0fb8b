import type { Store } from '../../store/store.ts';
import type { StopOutcome } from '../runtime/control-types.ts';
import { type InboxOutcome, type IncomingMessage, isEarlierTs } from '../runtime/incoming-message.ts';

/** What the word stop needs. */
export interface StopMessageDeps {
  store: Store;
  /** Carries the word out. It may come twice. */
  onStopMessage: (message: IncomingMessage) => Promise<StopOutcome>;
}

/** The word stop as a whole message: it is no message for the agent, and never waits behind one. */
export class StopMessages {
  readonly #deps: StopMessageDeps;
  /** Stops that are being carried out, by their message: both copies of a mention are one stop. */
  readonly #inFlight = new Map<string, Promise<StopOutcome>>();

  constructor(deps: StopMessageDeps) {
    this.#deps = deps;
  }

  /**
   * Undefined where other words took the place of these. `addressed`: it is for us whether or not its thread is. The row comes last:
   * what is not written down is delivered again, and stopping twice is stopping once.
   */
  async accept(message: IncomingMessage, isAddressed: boolean): Promise<InboxOutcome | undefined> {
    const { workspace, channel, root, ts, person } = message;
    const [thread, key] = [
      { workspace, channel, root },
      { workspace, channel, ts },
    ];
    const decision = await this.#deps.store.transaction(async (store) => {
      await store.threads.lock(thread);
      const earlyEdit = await store.messages.earlyEdit(key);
      if (earlyEdit?.deleted === true) return 'withdrawn';
      if (earlyEdit?.words != null) return 'reworded';
      if ((await store.messages.get(key)) !== undefined) return 'known';
      const known = await store.threads.get(thread);
      const isOurs = known !== undefined && !known.dormant && !isEarlierTs(ts, known.began_ts);
      if (isOurs || isAddressed) return 'stop';
      await store.orphanReplies.add(thread, ts);
      return 'stray';
    });
    if (decision === 'reworded') return undefined;
    if (decision !== 'stop') return { kind: decision };
    const outcome = await this.#stopOnce(message);
    const row = { root, person, state: 'closed', words: { text: '' }, editedTs: null } as const;
    return { kind: 'stop_said', thread, outcome, isFirst: await this.#deps.store.messages.add(key, row) };
  }

  #stopOnce(message: IncomingMessage): Promise<StopOutcome> {
    const name = `${message.workspace}/${message.channel}/${message.ts}`;
    const known = this.#inFlight.get(name);
    if (known !== undefined) return known;
    const stop = this.#deps.onStopMessage(message).finally(() => this.#inFlight.delete(name));
    this.#inFlight.set(name, stop);
    return stop;
  }
}
