import { sendNowNote } from '../../render/messages/button-notes.ts';
import * as strings from '../../render/strings/index.ts';
import type { MessageKey, ThreadKey } from '../../store/schema.ts';
import { mayUseControl, useOnTurn } from '../access/control-permission.ts';
import { seeksOwnReply } from '../replies/reply-finder.ts';
import type {
  ButtonHandlers,
  ChannelActor,
  ControlOutcome,
  MessagePress,
  PressAnswer,
} from '../runtime/control-request.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import type { InboxOutcome } from '../runtime/incoming-message.ts';
import { trySendEphemeral } from '../runtime/private-notices.ts';
import { stopRequesterName } from './stop-control.ts';

/** The button of a waiting message that passes it on to the run at work, in whichever process that is. */
export class SendNow {
  readonly #deps: RelayDeps;
  readonly #passOn: (thread: ThreadKey, isAsked: boolean) => boolean;
  readonly buttons: ButtonHandlers<'send_now'> = { send_now: (press) => this.press(press) };

  /** `passOn` offers a thread's next message to its run, if this process has it; false if it was not offered. */
  constructor(deps: RelayDeps, passOn: (thread: ThreadKey, isAsked: boolean) => boolean) {
    this.#deps = deps;
    this.#passOn = passOn;
  }

  /** Passes on what people asked for, perhaps in another process. Throws StoreError. */
  async passOnUrgent(): Promise<void> {
    for (const message of await this.#deps.store.messages.urgent()) this.#passOn(message, true);
  }

  /** Passes a message on if the run pauses; else offers the button to its writer, once for all that they write meanwhile. */
  async onInboxOutcome(outcome: InboxOutcome, { ts, ...writer }: ChannelActor & MessageKey): Promise<void> {
    if (outcome.kind !== 'admitted' || !outcome.isQueued || outcome.isPaused) return;
    if (this.#passOn(outcome.thread, false)) return;
    const { messages, turns } = this.#deps.store;
    if (await messages.hasEarlierWaiting(outcome.thread, writer.person, ts)) return;
    const open = await turns.open(outcome.thread);
    // Its reply is over; this message goes next, within seconds.
    if (open !== undefined && seeksOwnReply(open)) return;
    trySendEphemeral(this.#deps, { ...writer, threadTs: outcome.thread.thread_ts }, sendNowNote(ts));
  }

  /** Handles the button: the run gets the message, and what its writer wrote after it, as soon as it takes one. */
  async press({
    workspace,
    channel,
    person,
    messageTs: ts,
  }: MessagePress): Promise<ControlOutcome | PressAnswer> {
    const { messages, pausedThreads } = this.#deps.store;
    const message = await messages.get({ workspace, channel, ts });
    if (message === undefined) return 'unknown';
    const use = useOnTurn({ ...message, asked_by: message.user_id }, person, 'send_now');
    if (!(await mayUseControl(this.#deps, use))) return 'refused';
    const pausedBy = await pausedThreads.pausedBy(message);
    if (message.state === 'waiting' && pausedBy !== undefined) {
      const who = await stopRequesterName(this.#deps, { workspace, id: pausedBy });
      return { outcome: 'done', told: strings.waitsBehindStop(who) };
    }
    const count = pausedBy === undefined ? await messages.makeUrgent(message) : 0;
    const told = count === 0 ? strings.sendNowTooLate(message.state) : strings.passingOn(count);
    if (count === 0 && message.state !== 'withdrawn') return { outcome: 'over', told };
    if (count > 0) this.#passOn(message, true);
    return { outcome: 'done', replacement: { text: told, blocks: [] } };
  }
}
