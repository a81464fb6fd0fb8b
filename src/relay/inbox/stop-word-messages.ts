import type { ThreadKey } from '../../store/keys.ts';
import type { SlackTs } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { EarlyEdit } from '../../store/threads/early-edits.ts';
import type { StopOutcome } from '../runtime/control-types.ts';
import type { InboxOutcome, IncomingMessage } from '../runtime/incoming-message.ts';

/** What the word stop needs. */
export interface StopMessageDeps {
  store: Store;
  /** Stops the thread's agent. It may be called twice for one message. */
  onStopMessage: (message: IncomingMessage) => Promise<StopOutcome>;
}

/** The word stop as a whole message: it is not sent to the agent, and it never waits behind other messages. */
export class StopMessages {
  readonly #deps: StopMessageDeps;
  /** Stops in progress, by their message: both copies of a mention are one stop. */
  readonly #inFlight = new Map<string, Promise<StopOutcome>>();

  constructor(deps: StopMessageDeps) {
    this.#deps = deps;
  }

  /**
   * Stops, then writes the message down: without its row Slack delivers the message again, and stopping twice does no
   * harm. `isAddressed`: the message is for the bot even if its thread is not. Returns undefined where an edit other
   * than `appliedEdit` has replaced the text.
   */
  async accept(
    message: IncomingMessage,
    isAddressed: boolean,
    appliedEdit?: EarlyEdit,
  ): Promise<InboxOutcome | undefined> {
    const { workspace, channel, thread_ts, ts, person } = message;
    const thread = { workspace, channel, thread_ts };
    const key = { workspace, channel, ts };
    const { store } = this.#deps;
    // At once: a stop must be recorded and acknowledged in 3 s, also by a database that is far away.
    const [earlyEdit, known, isOurs] = await Promise.all([
      store.earlyEdits.get(key),
      store.messages.get(key),
      isAddressed || store.threads.isOursSince(thread, ts),
    ]);
    if (earlyEdit?.is_deletion === true) return { kind: 'withdrawn' };
    if (earlyEdit !== undefined && earlyEdit.edited_ts !== appliedEdit?.edited_ts) return undefined;
    if (known !== undefined) return { kind: 'known' };
    if (!isOurs && (await this.#isStray(thread, ts))) return { kind: 'stray' };
    const outcome = await this.#stopOnce(message);
    const row = {
      thread_ts,
      user_id: person,
      state: 'closed',
      content: { text: '' },
      editedTs: null,
    } as const;
    return { kind: 'stop_said', thread, outcome, isFirst: await store.messages.add(key, row) };
  }

  /** Under the thread's lock: it must not depend on a mention that is being written at the same time. */
  #isStray(thread: ThreadKey, ts: SlackTs): Promise<boolean> {
    return this.#deps.store.transaction(async (store) => {
      await store.threads.lock(thread);
      if (await store.threads.isOursSince(thread, ts)) return false;
      await store.orphanReplies.add(thread, ts);
      return true;
    });
  }

  #stopOnce(message: IncomingMessage): Promise<StopOutcome> {
    const name = `${message.workspace}/${message.channel}/${message.ts}`;
    const inFlight = this.#inFlight.get(name);
    if (inFlight !== undefined) return inFlight;
    const stop = this.#deps.onStopMessage(message).finally(() => this.#inFlight.delete(name));
    this.#inFlight.set(name, stop);
    return stop;
  }
}
