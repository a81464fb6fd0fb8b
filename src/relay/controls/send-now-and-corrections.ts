import { setTimeout as sleep } from 'node:timers/promises';
import { timeLimit, valueIf } from '../../calls/retries-and-waits.ts';
import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { noteWithButtons } from '../../render/messages/button-notes.ts';
import * as strings from '../../render/strings/index.ts';
import { StoreError } from '../../store/errors.ts';
import type { Message, MessageKey, ThreadKey, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { hasSettled } from '../../store/threads/turn-phase.ts';
import { accessDenialUnder } from '../access/access-policy.ts';
import { mayUseControl, useOnTurn } from '../access/control-permission.ts';
import { refuseMessage, tellRefused } from '../access/refusals.ts';
import { stopRequesterName } from '../reading/display-names.ts';
import { seeksOwnReply } from '../replies/reply-reader.ts';
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
import { addPressedMessage } from './continue-and-retry.ts';
import type { PassOnTime } from './messages-during-a-run.ts';
import { updatePausedNoticeSoon } from './paused-messages.ts';
import type { StopControl } from './stop-control.ts';

/** How often (ms), and how many times, the answer to a press looks what became of the messages to send. */
const LOOK_INTERVAL_MS = 500;
const MAX_LOOKS = 600;
/** The answer to a press about a message that was deleted. */
const NOTHING_TO_SEND: PressAnswer = { outcome: 'over', told: strings.sendNowTooLate('withdrawn') };

/** Has a thread's turn look for a message to pass on. False if this process runs none, or the turn does not look now. */
type PassOn = (thread: ThreadKey, when: PassOnTime) => boolean;
type SendPaused = ButtonHandlers<'send_paused'>['send_paused'];

/**
 * Passes a queued message on if the run pauses. Else offers its writer buttons, below one note for all that they have
 * waiting. A writer who may not use the agent is told so at once, because the run may take hours.
 */
export async function passOnOrOfferSendNow(
  deps: RelayDeps,
  passOn: PassOn,
  outcome: InboxOutcome,
  { ts, ...writer }: ChannelActor & MessageKey,
): Promise<void> {
  if (outcome.kind !== 'admitted' || !outcome.isQueued || outcome.isPaused) return;
  if (passOn(outcome.thread, 'in_pause')) return;
  const { messages, turns } = deps.store;
  if (await messages.hasEarlierWaiting(outcome.thread, writer.person, ts)) return;
  const open = await turns.open(outcome.thread);
  // Such a turn has no run to send to or stop: the run has ended, or an earlier turn's run got the turn's message.
  const endsSoon = open !== undefined && (hasSettled(open) || seeksOwnReply(open));
  if (endsSoon) return;
  if (await refuseIfDenied(deps, { ...writer, ts })) return;
  const note = noteWithButtons(strings.messageQueued, ['send_now', 'send_instead'], ts);
  trySendEphemeral(deps, { ...writer, threadTs: outcome.thread.thread_ts }, note);
}

/** Refuses a message if its writer may not use the agent. False also if Slack does not say in time. Throws a StoreError. */
async function refuseIfDenied(deps: RelayDeps, asked: ChannelActor & MessageKey): Promise<boolean> {
  const { store, settings } = deps;
  const workspace = deps.workspace(asked.workspace);
  const message = await store.messages.get(asked);
  if (workspace === undefined || message === undefined) return false;
  const inForce = await store.settings.inForce(asked.workspace, asked.channel);
  const denial = accessDenialUnder(inForce, deps, workspace.people, asked, timeLimit(settings.lookupMs));
  const why = await denial.catch(valueIf(undefined, (error) => !(error instanceof StoreError)));
  if (why === undefined || why === 'unknown') return false;
  if (await refuseMessage({ deps, workspace }, message, { why })) await tellRefused(deps, message, why);
  return true;
}

/** Handles **Send now**: the run, in any process, soon gets all that the message's writer has waiting. */
export async function sendNow(
  deps: RelayDeps,
  passOn: PassOn,
  press: MessagePress,
): Promise<ControlOutcome | PressAnswer> {
  const message = await permittedMessage(deps, press, 'send_now');
  if (typeof message === 'string') return message;
  const isPaused = (await deps.store.pausedThreads.pausedBy(message)) !== undefined;
  const urgent = isPaused ? [] : await deps.store.messages.makeUrgent(message);
  if (urgent.length === 0) return answerUnsent(deps, message);
  passOn(message, 'at_once');
  return answerSending(deps, urgent, strings.passingOn(urgent.length));
}

/** Sends the new text of a message that was edited after it was sent; each edit once. */
export async function sendEdit(deps: RelayDeps, press: MessagePress): Promise<ControlOutcome | PressAnswer> {
  const { store } = deps;
  const { workspace, channel, messageTs } = press;
  const key = { workspace, channel, ts: messageTs };
  const turn = await store.turns.ofMessage(key);
  if (turn === undefined) return 'unknown';
  if (!(await mayUseControl(deps, useOnTurn(turn, press.person, 'correct')))) return 'refused';
  if (await store.pendingEdits.isDeleted(key)) return NOTHING_TO_SEND;
  const hasOpenTurn = (await store.turns.open(turn)) !== undefined;
  const [sent] = await store.transaction((within) =>
    addCorrection(deps, within, turn, press, { is_urgent: false }),
  );
  // Another press has sent these words, or they are no longer kept.
  if (sent === undefined) {
    // If no message has sent them, none has the ts of the press either: the fate of that key is `unknown`.
    const ts = (await store.pendingEdits.get(key))?.sent_as_ts ?? press.ts;
    return { outcome: 'over', told: (await fateOf(deps, { ...key, ts }, strings.messageQueued)).told };
  }
  updatePausedNoticeSoon(deps, { ...turn, ts: press.ts });
  // Without an open turn, the message is sent now.
  const told = hasOpenTurn ? (await fateOf(deps, sent, strings.messageQueued)).told : strings.passingOn(1);
  return { outcome: 'done', told };
}

/** Adds a message with a sent one's newest words. Returns its key, as a list: [] if they were sent, or none are kept. */
async function addCorrection(
  deps: RelayDeps,
  store: Store,
  turn: Turn,
  press: MessagePress,
  urgency: { is_urgent: boolean },
): Promise<MessageKey[]> {
  const { workspace, channel, messageTs, ts } = press;
  const key = { workspace, channel, ts: messageTs };
  // A deletion, which withdraws what waits, comes before this or finds what this adds.
  await store.threads.lock(turn);
  const edit = await store.pendingEdits.claim(key, ts);
  if (edit?.content == null) return [];
  await addPressedMessage(deps, store, turn, press, {
    // It is saved under the person who edited the message, so that erasing that person erases it too.
    content: { ...edit.content, isCorrection: true },
    edited_ts: edit.edited_ts,
    said_ts: (await store.messages.get(key))?.said_ts ?? null, // When people wrote it, not when a button sent it again.
    revises_turn_id: turn.id,
    ...urgency,
  });
  return [{ ...key, ts }];
}

/**
 * Handles **Stop and send this instead**, below the note on a message that waits, or that was edited while
 * the agent answers it: stops the run, and sends the newest words next, before what others have waiting.
 */
export async function sendInstead(
  deps: RelayDeps,
  { stopControl, sendPaused }: { stopControl: StopControl; sendPaused: SendPaused },
  press: MessagePress,
): Promise<ControlOutcome | PressAnswer> {
  const { store } = deps;
  const message = await permittedMessage(deps, press, 'send_instead');
  if (typeof message === 'string') return message;
  if (await store.pendingEdits.isDeleted(message)) return NOTHING_TO_SEND;
  // What waits behind a stop goes on, as with the button below its notice.
  const pausedBy = await store.pausedThreads.pausedBy(message);
  const resumed = pausedBy && (await sendPaused({ ...press, turnId: pausedBy, messageTs: undefined }));
  if (resumed === 'refused') return 'refused';
  const revisedTurn = await revisedTurnOf(store, message);
  const sendNewest = async (within: Store) =>
    revisedTurn === undefined
      ? within.messages.makeUrgent(message)
      : addCorrection(deps, within, revisedTurn, press, { is_urgent: true });
  const turn = revisedTurn ?? (await store.turns.running(message));
  const isAtWork = turn !== undefined && !hasSettled(turn);
  const stop = { ...press, control: 'send_instead', instead: sendNewest };
  const stopped = isAtWork ? await stopControl.stopAndSend({ ...stop, turnId: turn.id, turn }) : undefined;
  if (stopped?.outcome === 'refused') return 'refused';
  // The words are sent with the record of the stop or, if no run was stopped, in a transaction of their own.
  const sentWithStop = stopped?.sent ?? [];
  const sent = sentWithStop.length > 0 ? sentWithStop : await store.transaction(sendNewest);
  if (sent.length > 0) return answerSending(deps, sent, strings.sendingInstead);
  // Its words were sent before, perhaps as a new message, or it was deleted.
  const ts = (await store.pendingEdits.get(message))?.sent_as_ts ?? message.ts;
  return answerUnsent(deps, { ...message, ts });
}

/** The turn whose message was edited after it was sent; undefined for any other message. */
async function revisedTurnOf({ pendingEdits, turns }: Store, message: Message): Promise<Turn | undefined> {
  const isEdited = message.state !== 'waiting' && (await pendingEdits.get(message)) !== undefined;
  return isEdited ? turns.ofMessage(message) : undefined;
}

/** The message that a press is about. `unknown` if it is not kept; `refused` if the person may not, and was told. */
async function permittedMessage(deps: RelayDeps, press: MessagePress, control: string) {
  const { workspace, channel, messageTs: ts, person } = press;
  const message = await deps.store.messages.get({ workspace, channel, ts });
  if (message === undefined) return 'unknown';
  // A message may have no turn yet: who wrote it counts as who asked.
  const use = useOnTurn({ ...message, asked_by: message.user_id }, person, control);
  return (await mayUseControl(deps, use)) ? message : 'refused';
}

/** The answer to a press that has sent nothing: `done`, since the person reads what has become of the message. */
async function answerUnsent(deps: RelayDeps, key: MessageKey): Promise<PressAnswer> {
  const fate = await fateOf(deps, key);
  if (fate.state === 'on_its_way') return answerSending(deps, [key], strings.passingOn(1));
  const isWaiting = fate.state === 'waiting';
  return { outcome: 'done', told: fate.told, ...(isWaiting && { replacement: noteOf(fate, [key]) }) };
}

/** The answer to a press that sends messages: `told` at once and, within 5 minutes, what became of them. */
function answerSending(deps: RelayDeps, keys: readonly MessageKey[], told: string): PressAnswer {
  const later = async () => {
    for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
      await sleep(LOOK_INTERVAL_MS, undefined, { ref: false });
      const fate = await fateOfAll(deps, keys);
      if (fate === undefined) return undefined; // There were no keys.
      if (fate.state !== 'on_its_way') return noteOf(fate, keys);
    }
    return undefined;
  };
  return { outcome: 'done', told, later };
}

/** The note that says what became of messages. If they wait, its button names the first: a press sends all of its writer's. */
function noteOf({ state, told }: KnownFate, [first]: readonly MessageKey[]): RenderedMessage {
  if (state !== 'waiting' || first === undefined) return { text: told, blocks: [] };
  return noteWithButtons(told, ['send_instead'], first.ts);
}

/** What became of a message that was to be sent, and the sentence that says so; `unknown`: it is not kept. */
interface KnownFate {
  state: Exclude<Message['state'], 'sending'> | 'paused' | 'unknown';
  told: string;
}

/** `on_its_way`: it is being sent, or will be once the run takes it. */
type Fate = KnownFate | { state: 'on_its_way'; told?: undefined };

/** What the note says of several messages: one on its way counts first, then one that waits, and a deleted one last. */
async function fateOfAll(deps: RelayDeps, keys: readonly MessageKey[]): Promise<Fate | undefined> {
  const fates = await Promise.all(keys.map((key) => fateOf(deps, key)));
  const anyIn = (state: Fate['state']) => fates.find((fate) => fate.state === state);
  const notDeleted = fates.find(({ state }) => state !== 'withdrawn');
  return anyIn('on_its_way') ?? anyIn('waiting') ?? notDeleted ?? fates[0];
}

/** What became of a message, by its row. `toldIfWaiting`: the sentence for a message that waits like any other. */
export async function fateOf(
  deps: RelayDeps,
  key: MessageKey,
  toldIfWaiting: string = strings.notPassedOn,
): Promise<Fate> {
  const message = await deps.store.messages.get(key);
  if (message === undefined) return { state: 'unknown', told: strings.controlFailed.unknown };
  const { state, is_urgent: isUrgent } = message;
  if (state === 'sending') return { state: 'on_its_way' };
  if (state !== 'waiting') return { state, told: strings.sendNowTooLate(state) };
  const id = await deps.store.pausedThreads.pausedBy(message);
  if (id !== undefined)
    return {
      state: 'paused',
      told: strings.waitsBehindStop(await stopRequesterName(deps, { ...message, id })),
    };
  return isUrgent ? { state: 'on_its_way' } : { state, told: toldIfWaiting };
}
