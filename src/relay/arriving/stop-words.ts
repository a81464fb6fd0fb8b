import type { Store } from '../../store/store.ts';
import type { SignOutcome } from '../controls/control.ts';
import { type Admission, isEarlier, type PersonMessage } from './arrivals.ts';

/** What the word stop needs. */
export interface StopWordParts {
  store: Store;
  /** Carries the word out. It may come twice. */
  stopSaid: (message: PersonMessage) => Promise<SignOutcome>;
}

/** The word stop as a whole message: it is no message for the agent, and never waits behind one. */
export class StopWords {
  readonly #parts: StopWordParts;
  /** Stops that are being carried out, by their message: both copies of a mention are one stop. */
  readonly #stops = new Map<string, Promise<SignOutcome>>();

  constructor(parts: StopWordParts) {
    this.#parts = parts;
  }

  /**
   * Undefined where other words took the place of these. `addressed`: it is for us whether or not its thread is. The row comes last:
   * what is not written down is delivered again, and stopping twice is stopping once.
   */
  async accept(message: PersonMessage, addressed: boolean): Promise<Admission | undefined> {
    const { workspace, channel, root, ts, person } = message;
    const [thread, key] = [
      { workspace, channel, root },
      { workspace, channel, ts },
    ];
    const decision = await this.#parts.store.transaction(async (store) => {
      await store.threads.lock(thread);
      const early = await store.messages.earlyChange(key);
      if (early?.deleted === true) return 'withdrawn';
      if (early?.words != null) return 'reworded';
      if ((await store.messages.get(key)) !== undefined) return 'known';
      const known = await store.threads.get(thread);
      const isOurs = known !== undefined && !known.dormant && !isEarlier(ts, known.began_ts);
      if (isOurs || addressed) return 'stop';
      await store.strays.note(thread, ts);
      return 'stray';
    });
    if (decision === 'reworded') return undefined;
    if (decision !== 'stop') return { kind: decision };
    const outcome = await this.#once(message);
    const row = { root, person, state: 'closed', words: { text: '' }, editedTs: null } as const;
    return { kind: 'stop_said', thread, outcome, first: await this.#parts.store.messages.add(key, row) };
  }

  #once(message: PersonMessage): Promise<SignOutcome> {
    const name = `${message.workspace}/${message.channel}/${message.ts}`;
    const known = this.#stops.get(name);
    if (known !== undefined) return known;
    const stop = this.#parts.stopSaid(message).finally(() => this.#stops.delete(name));
    this.#stops.set(name, stop);
    return stop;
  }
}
