import { replacementRequest } from '../../render/messages/checked-sources.ts';
import * as strings from '../../render/strings/index.ts';
import type { Message, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { NewMessage } from '../../store/threads/messages.ts';
import { isOver } from '../../store/threads/turn-phase.ts';
import { permittedTurn } from '../access/control-permission.ts';
import type { ButtonHandlers, ControlOutcome, PressAnswer, TurnPress } from '../runtime/control-request.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import { inBackground } from '../runtime/poller.ts';
import { updatePausedNoticeSoon } from './paused-messages.ts';
import { buttonUse, showButtonUse } from './used-button-note.ts';

/** A message that a button sends, and what its row holds beside the content. */
type ButtonMessage = Pick<NewMessage, 'content'> & Partial<NewMessage>;

/** The buttons that send the agent a message, which waits in its thread like any other. Each works once. */
export function messageButtons(
  deps: RelayDeps,
): ButtonHandlers<'continue' | 'retry' | 'go_ahead' | 'stop_here' | 'replace_sources'> {
  /** Makes a message with this text or, if people have written since the turn's message, says that it is too late. */
  const unlessWrittenSince = (text: string) => async (turn: Turn, store: Store) =>
    (await store.messages.hasLater(turn)) ? { whyLate: strings.answeredInThread } : { content: { text } };
  const planAnswer = (control: keyof typeof strings.planAnswers) => (press: TurnPress) => {
    const recordAnswer = async ({ workspace, channel, thread_ts, id: turn_id }: Turn, store: Store) => {
      const event = { workspace, channel, thread_ts, turn_id, user_id: press.person };
      await store.audit.add({ ...event, kind: 'approval', details: { control } });
    };
    return claimAndSend(deps, press, control, unlessWrittenSince(strings.planAnswers[control]), recordAnswer);
  };
  return {
    /** Asks the agent to continue its answer, cut off at the length limit, unless people have written since. */
    continue: (press) => claimAndSend(deps, press, 'continue', unlessWrittenSince(strings.continueMessage)),
    /** Resends the message of a failed or stopped turn, with its files, whatever was written since. */
    retry: (press) =>
      claimAndSend(deps, press, 'retry', async (turn, store) => {
        const messages = await store.messages.ofTurn(turn);
        if (await wasAnyDeleted(store, messages)) return { whyLate: strings.questionDeleted };
        const [message] = messages; // The turn's own is the first.
        if (message?.content == null) return 'unknown';
        return { content: message.content, said_ts: message.said_ts, resends_turn_id: turn.id };
      }),
    /** Tells the agent which sources of its answer have a problem, as the registries say. */
    replace_sources: (press) =>
      claimAndSend(deps, press, 'replace_sources', async ({ source_checks: checks }) => {
        const text = replacementRequest(checks ?? {});
        return text === undefined ? 'unknown' : { content: { text } };
      }),
    /** Both answer a plan that waits for approval, unless people have written since. */
    go_ahead: planAnswer('go_ahead'),
    stop_here: planAnswer('stop_here'),
  };
}

/** Whether people have deleted one of these messages, or the message that a button has sent again as one of these. */
async function wasAnyDeleted(store: Store, messages: readonly Message[]): Promise<boolean> {
  const asFirstSaid = messages.map((message) => ({ ...message, ts: message.said_ts ?? message.ts }));
  const deletions = await Promise.all(asFirstSaid.map((one) => store.pendingEdits.isDeleted(one)));
  const originals = await Promise.all(asFirstSaid.map((one) => store.messages.get(one)));
  return deletions.includes(true) || [...messages, ...originals].some((one) => one?.state === 'withdrawn');
}

/**
 * Sends the message that `messageFor` makes, and claims the button, which works once. `messageFor` returns
 * `unknown` if what it needs is not kept, or says why it is too late. The message with the button then says
 * who used it, or why it is too late. `over` if the button was used before, or it is too late.
 */
async function claimAndSend(
  deps: RelayDeps,
  press: TurnPress,
  control: string,
  messageFor: (turn: Turn, store: Store) => Promise<ButtonMessage | { whyLate: string } | 'unknown'>,
  recordAudit?: (turn: Turn, store: Store) => Promise<void>,
): Promise<ControlOutcome | PressAnswer> {
  const claim = control === 'replace_sources' ? 'sources_message_ts' : 'button_message_ts';
  const known = await permittedTurn(deps, press, control);
  if (typeof known === 'string') return known;
  const outcome = await deps.store.transaction(async (store) => {
    // The thread is locked before the turn, in the order of a stop.
    await store.threads.lock(known);
    const turn = await store.turns.get(press.workspace, press.turnId);
    if (turn === undefined || turn[claim] !== null) return 'over';
    const message = await messageFor(turn, store);
    if (message === 'unknown' || 'whyLate' in message) return message;
    if (!(await store.turns.claimButton(turn, claim, press.ts))) return 'over';
    await recordAudit?.(turn, store);
    await addPressedMessage(deps, store, turn, press, message);
    return 'done';
  });
  if (outcome === 'unknown') return outcome;
  const whyLate = typeof outcome === 'string' ? undefined : outcome.whyLate;
  // If somebody else was first, their process may have ended before it showed that.
  if (press.messageTs !== undefined) {
    // Until the turn is finished, its reply may change after the press: then it is read again.
    const shown = isOver(known) ? press.message : undefined;
    const showing = showButtonUse(deps, known, { ts: press.messageTs, claim, shown, whyLate });
    inBackground(showing, deps.log, 'could not take away a used button');
  }
  if (outcome === 'done') {
    updatePausedNoticeSoon(deps, { ...known, ts: press.ts });
    return outcome;
  }
  const why = whyLate ?? (await buttonUse(deps, known, claim)) ?? strings.answeredInThread;
  return { outcome: 'over', told: strings.pressedTooLate(why) };
}

/** Adds a message of the person who pressed to the turn's thread; its `ts` is that of the press. */
export async function addPressedMessage(
  deps: Pick<RelayDeps, 'enqueue'>,
  store: Store,
  { workspace, channel, thread_ts }: Turn,
  { ts, person: user_id }: Pick<TurnPress, 'ts' | 'person'>,
  message: ButtonMessage,
): Promise<void> {
  const row = { said_ts: null, edited_ts: null, ...message, user_id, thread_ts, state: 'waiting' } as const;
  await store.messages.add({ workspace, channel, ts }, row);
  await deps.enqueue(store, { workspace, channel, thread_ts });
}
