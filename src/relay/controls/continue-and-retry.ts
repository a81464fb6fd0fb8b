import { setTimeout as sleep } from 'node:timers/promises';
import type { Transaction } from 'kysely';
import { z } from 'zod';
import { type ShownMessage, withButtonUsed } from '../../render/messages/button-notes.ts';
import * as strings from '../../render/strings/index.ts';
import type { Message, Tables, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { NewMessage } from '../../store/threads/messages.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import { permittedTurn } from '../access/control-permission.ts';
import { actorName } from '../reading/display-names.ts';
import type { ButtonHandlers, ControlOutcome, PressAnswer, TurnPress } from '../runtime/control-request.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import { inBackground } from '../runtime/poller.ts';
import { refreshPausedNotice } from './paused-messages.ts';

/** The message that a button sends to the agent. */
type FollowUpMessage = Pick<NewMessage, 'content' | 'resends_turn_id' | 'revises_turn_id'>;

/** Why a button no longer sends anything: the sentence that takes its place. */
interface Late {
  late: string;
}

/** The buttons that send the agent a message, which is saved at once and waits in its thread like any other. Each works once. */
export function messageButtons(
  deps: RelayDeps,
): ButtonHandlers<'continue' | 'retry' | 'go_ahead' | 'stop_here'> {
  const unlessWrittenSince = (text: string) => async (turn: Turn, store: Store) =>
    (await store.messages.hasLater(turn)) ? { late: strings.answeredInThread } : { content: { text } };
  const answerPlan = (control: keyof typeof strings.planAnswers) => (press: TurnPress) => {
    const record = async ({ workspace, channel, thread_ts, id: turn_id }: Turn, store: Store) => {
      const event = { workspace, channel, thread_ts, turn_id, user_id: press.person };
      await store.audit.add({ ...event, kind: 'approval', details: { control } });
    };
    return addFollowUp(deps, press, control, unlessWrittenSince(strings.planAnswers[control]), record);
  };
  return {
    /** Asks the agent to continue an answer that was cut off at the length limit: the last one, as the agent understands it. */
    continue: (press) => addFollowUp(deps, press, 'continue', unlessWrittenSince(strings.continueMessage)),
    /** Sends the message of a failed or stopped turn again, with the same text and files: it stands by itself, whatever was written since. */
    retry: (press) =>
      addFollowUp(deps, press, 'retry', async (turn, store) => {
        const message = await store.messages.get(messageKeyOf(turn));
        if (message?.state === 'withdrawn') return { late: strings.questionDeleted };
        const content = message?.content ?? undefined;
        return content && { content, resends_turn_id: turn.id };
      }),
    /** These answer a plan that waits for approval, unless somebody has answered it. */
    go_ahead: answerPlan('go_ahead'),
    stop_here: answerPlan('stop_here'),
  };
}

async function addFollowUp(
  deps: RelayDeps,
  press: TurnPress,
  control: string,
  messageFor: (turn: Turn, store: Store) => Promise<FollowUpMessage | Late | undefined>,
  record?: (turn: Turn, store: Store) => Promise<void>,
): Promise<ControlOutcome | PressAnswer> {
  const known = await permittedTurn(deps, press, control);
  if (typeof known === 'string') return known;
  const outcome = await deps.store.transaction(async (store, trx) => {
    // In the order of a stop: the thread, then its turn.
    await store.threads.lock(known);
    const turn = await store.turns.get(press.workspace, press.turnId);
    if (turn === undefined || turn.button_message_ts !== null) return 'over';
    const message = await messageFor(turn, store);
    if (message === undefined || 'late' in message) return message ?? 'unknown';
    if (!(await store.turns.claimButton(turn, press.ts))) return 'over';
    await record?.(turn, store);
    await addPressedMessage(deps, { store, trx }, turn, press, message);
    return 'done';
  });
  if (outcome === 'unknown') return outcome;
  const late = typeof outcome === 'string' ? undefined : outcome.late;
  // Whoever was first may not have shown it.
  const { messageTs, message } = press;
  if (messageTs !== undefined)
    inBackground(
      // Until the turn is finished, its reply may change after the press.
      showButtonUse(deps, known, messageTs, known.finished_at === null ? undefined : message, late),
      deps.log,
      'could not take away a used button',
    );
  if (outcome === 'done') {
    refreshPausedNotice(deps, { ...known, ts: press.ts });
    return outcome;
  }
  const why = late ?? (await buttonUse(deps, known)) ?? strings.answeredInThread;
  return { outcome: 'over', told: strings.pressedTooLate(why) };
}

/** Adds a message of the person who pressed to the turn's thread. */
export async function addPressedMessage(
  deps: Pick<RelayDeps, 'enqueue'>,
  { store, trx }: { store: Store; trx: Transaction<Tables> },
  { workspace, channel, thread_ts }: Turn,
  { ts, person: user_id }: TurnPress,
  message: FollowUpMessage,
): Promise<void> {
  const row = { ...message, user_id, thread_ts, state: 'waiting', edited_ts: null } as const;
  await store.messages.add({ workspace, channel, ts }, row);
  await deps.enqueue(trx, { workspace, channel, thread_ts });
}

/** How often (ms), and how many times, it is looked whether a button's message still waits, before its use is shown. */
const LOOK_INTERVAL_MS = 500;
const MAX_LOOKS = 20;

/** A message of ours as Slack gives it back: all of its blocks, or it does not parse. */
export const shownMessageSchema = z.looseObject({
  text: z.string().catch(''),
  blocks: z.array(z.looseObject({ type: z.string(), elements: z.array(z.looseObject({})).optional() })),
});

/**
 * The buttons of which one can be used, once, leave our message `ts`, which says who used one, or why they are `late`; what
 * it shows is read from Slack unless it is known. A reply that still grows does so by itself. Throws a SlackError.
 */
export async function showButtonUse(
  deps: Pick<RelayDeps, 'store' | 'workspace'>,
  turn: Turn,
  ts: string,
  message?: ShownMessage,
  late?: string,
): Promise<void> {
  for (let looks = 0; looks < MAX_LOOKS && (await mayBeRefused(deps, turn)); looks += 1)
    await sleep(LOOK_INTERVAL_MS, undefined, { ref: false });
  const now = await deps.store.turns.get(turn.workspace, turn.id);
  if (now === undefined || (now.settled_at === null && now.finished_at === null)) return;
  const { channel, thread_ts: threadTs } = turn;
  const read = async () => deps.workspace(turn.workspace)?.readBack.message({ channel, threadTs, ts });
  const shown = message ?? shownMessageSchema.safeParse(await read()).data;
  if (shown === undefined) return;
  // A message that was refused meanwhile has given the button back.
  const render = async () => {
    const use = (await buttonUse(deps, turn)) ?? late;
    return use === undefined ? undefined : withButtonUsed(shown, use);
  };
  await deps.workspace(turn.workspace)?.posting.editComplete({ channel, ts, render });
}

/** Whether the message of the button still waits: its writer's quota is checked when its turn comes. */
async function mayBeRefused({ store }: Pick<RelayDeps, 'store'>, turn: Turn): Promise<boolean> {
  const ts = (await store.turns.get(turn.workspace, turn.id))?.button_message_ts ?? null;
  return ts !== null && (await store.messages.get({ ...messageKeyOf(turn), ts }))?.state === 'waiting';
}

/** Who used a button of a turn that can be used once, and which; undefined if nobody has. */
export async function buttonUse(
  deps: Pick<RelayDeps, 'store' | 'workspace'>,
  { workspace, id }: Pick<Turn, 'workspace' | 'id'>,
): Promise<string | undefined> {
  const { turns, messages } = deps.store;
  const turn = await turns.get(workspace, id);
  const ts = turn?.button_message_ts ?? null;
  if (turn === undefined || ts === null) return undefined;
  const message = await messages.get({ ...messageKeyOf(turn), ts });
  const who = await actorName(deps, { workspace, person: message?.user_id ?? '' });
  return strings.buttonUsed(who, useOf(message));
}

/** Which button made a message, as far as its text is still known. */
function useOf(message: Message | undefined): keyof typeof strings.buttonUses {
  if (message?.resends_turn_id != null) return 'retry';
  if (message?.revises_turn_id != null) return 'choose_again';
  const text = message?.content?.text;
  if (text === strings.continueMessage) return 'continue';
  if (text === strings.planAnswers.go_ahead) return 'go_ahead';
  return text === strings.planAnswers.stop_here ? 'stop_here' : 'unknown';
}
