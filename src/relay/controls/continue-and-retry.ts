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
import type { ButtonHandlers, ControlOutcome, Press, PressAnswer } from '../runtime/control-request.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import { inBackground } from '../runtime/poller.ts';
import type { PausedMessages } from './paused-messages.ts';
import { stopRequesterName } from './stop-control.ts';

/** The message that a button sends to the agent. */
type FollowUpMessage = Pick<NewMessage, 'content' | 'resends_turn_id' | 'revises_turn_id'>;

/** The buttons that send the agent a message, which is saved at once and waits in its thread like any other. */
export class ButtonActions {
  readonly #deps: RelayDeps;
  readonly #pausedMessages: Pick<PausedMessages, 'onWaitingChanged'>;
  readonly buttons: ButtonHandlers<'continue' | 'retry' | 'go_ahead' | 'stop_here' | 'correct'> = {
    continue: (press) => this.continue(press),
    retry: (press) => this.retry(press),
    go_ahead: (press) => this.answerPlan(press, 'go_ahead'),
    stop_here: (press) => this.answerPlan(press, 'stop_here'),
    correct: (press) => this.correct(press),
  };

  constructor(deps: RelayDeps, pausedMessages: Pick<PausedMessages, 'onWaitingChanged'>) {
    this.#deps = deps;
    this.#pausedMessages = pausedMessages;
  }

  /** Asks the agent to continue an answer that was cut off at the length limit; once for each turn. */
  async continue(press: Press): Promise<ControlOutcome | PressAnswer> {
    return this.#addFollowUp(press, 'continue', async () => ({ content: { text: strings.continueMessage } }));
  }

  /** Sends the message of a failed or stopped turn again, with the same text and files; once for each turn. */
  async retry(press: Press): Promise<ControlOutcome | PressAnswer> {
    return this.#addFollowUp(press, 'retry', async (turn, store) => {
      const content = (await store.messages.get(messageKeyOf(turn)))?.content ?? undefined;
      return content && { content, resends_turn_id: turn.id };
    });
  }

  /** Answers a plan that waits for approval, unless somebody has answered it; once for each turn. */
  async answerPlan(
    press: Press,
    control: keyof typeof strings.planAnswers,
  ): Promise<ControlOutcome | PressAnswer> {
    const answer = async (turn: Turn, store: Store) =>
      (await store.messages.hasLater(turn)) ? 'over' : { content: { text: strings.planAnswers[control] } };
    const record = async ({ workspace, channel, thread_ts, id: turn_id }: Turn, store: Store) => {
      const event = { workspace, channel, thread_ts, turn_id, user_id: press.person };
      await store.audit.add({ ...event, kind: 'approval', details: { control } });
    };
    return this.#addFollowUp(press, control, answer, { mayRun: true, record });
  }

  /** Sends the new text of a message that was edited after it was sent; each edit once. */
  async correct(press: Press): Promise<ControlOutcome | PressAnswer> {
    const turn = await permittedTurn(this.#deps, press, 'correct');
    if (typeof turn === 'string') return turn;
    const isBusy = (await this.#deps.store.turns.open(turn)) !== undefined;
    const outcome = await this.#deps.store.transaction(async (store, trx) => {
      const edit = await store.earlyEdits.claim(messageKeyOf(turn), press.ts);
      if (edit?.content == null) return 'over';
      // The files went with the message.
      const { files: _, ...words } = edit.content;
      // Saved under the person who edited the message, so that erasing that person erases it too.
      const message: FollowUpMessage = {
        content: { ...words, isCorrection: true },
        revises_turn_id: turn.id,
      };
      await this.#addWaitingMessage(store, trx, turn, press, message);
      return 'done';
    });
    const told = await this.#correctionState(turn, outcome === 'done' && !isBusy);
    return { outcome: this.#afterAdding(outcome, press, turn), ...(told !== undefined && { told }) };
  }

  /** What became of the correction of a turn's message; `isNext`: this press sent it, and nothing was before it. */
  async #correctionState(turn: Turn, isNext: boolean): Promise<string | undefined> {
    const { earlyEdits, messages, pausedThreads } = this.#deps.store;
    const pausedBy = await pausedThreads.pausedBy(turn);
    if (isNext && pausedBy === undefined) return strings.correctionStates.next;
    const key = messageKeyOf(turn);
    const ts = (await earlyEdits.get(key))?.sent_as_ts ?? null;
    const correction = ts === null ? undefined : await messages.get({ ...key, ts });
    if (correction?.state === 'sending' || correction?.state === 'sent') return strings.correctionStates.sent;
    if (correction?.state !== 'waiting') return undefined;
    if (pausedBy === undefined) return strings.correctionStates.waiting;
    return strings.waitsBehindStop(await stopRequesterName(this.#deps, { ...turn, id: pausedBy }));
  }

  async #addFollowUp(
    press: Press,
    control: string,
    messageFor: (turn: Turn, store: Store) => Promise<FollowUpMessage | 'over' | undefined>,
    {
      mayRun = false,
      record,
    }: { mayRun?: boolean; record?: (turn: Turn, store: Store) => Promise<void> } = {},
  ): Promise<ControlOutcome | PressAnswer> {
    const known = await permittedTurn(this.#deps, press, control);
    if (typeof known === 'string') return known;
    if (!mayRun && known.settled_at === null && known.finished_at === null) return 'running';
    const outcome = await this.#deps.store.transaction(async (store, trx) => {
      // In the order of a stop: the thread, then its turn.
      await store.threads.lock(known);
      const turn = await store.turns.get(press.workspace, press.turnId);
      if (turn === undefined || turn.button_used_at !== null) return 'over';
      // A press that comes too late must not use the button up: another one below the same answer may still serve.
      const message = await messageFor(turn, store);
      if (message === undefined || message === 'over') return message ?? 'unknown';
      if (!(await store.turns.claimButton(turn, press.ts))) return 'over';
      await record?.(turn, store);
      await this.#addWaitingMessage(store, trx, turn, press, message);
      return 'done';
    });
    if (outcome !== 'done' && outcome !== 'over') return outcome;
    // A reply that still grows shows it by itself. If it is over, whoever was first may not have shown it.
    const { log } = this.#deps;
    if (known.settled_at !== null || known.finished_at !== null)
      inBackground(this.#showUse(press, known), log, 'could not take away a used button');
    if (outcome === 'done') return this.#afterAdding(outcome, press, known);
    // Somebody used a button of the turn, or wrote in its thread.
    const told = strings.pressedTooLate((await buttonUse(this.#deps, known)) ?? strings.answeredInThread);
    return { outcome, told };
  }

  async #showUse({ messageTs: ts, message }: Press, turn: Turn): Promise<void> {
    if (ts !== undefined && message !== undefined) await showButtonUse(this.#deps, turn, ts, message);
  }

  /** The new message may wait in a paused thread: the notice there shows how many do. */
  #afterAdding(outcome: ControlOutcome, { workspace, ts }: Press, { channel }: Turn): ControlOutcome {
    if (outcome === 'done') this.#pausedMessages.onWaitingChanged({ workspace, channel, ts });
    return outcome;
  }

  /** Adds a message of the person who pressed to the turn's thread. */
  async #addWaitingMessage(
    store: Store,
    trx: Transaction<Tables>,
    { workspace, channel, thread_ts }: Turn,
    { ts, person: user_id }: Press,
    message: FollowUpMessage,
  ): Promise<void> {
    const row = { ...message, user_id, thread_ts, state: 'waiting', edited_ts: null } as const;
    await store.messages.add({ workspace, channel, ts }, row);
    await this.#deps.enqueue(trx, { workspace, channel, thread_ts });
  }
}

/** How often (ms), and how many times, it is looked whether a button's message still waits, before its use is shown. */
const LOOK_INTERVAL_MS = 500;
const MAX_LOOKS = 20;

/** A message of ours as Slack gives it back: all of its blocks, or it does not parse. */
export const shownMessageSchema = z.looseObject({
  text: z.string().catch(''),
  blocks: z.array(z.looseObject({ type: z.string(), elements: z.array(z.looseObject({})).optional() })),
});

/** The buttons of which one can be used, once, leave our message `ts`, which says who used one. Throws a SlackError. */
export async function showButtonUse(
  deps: Pick<RelayDeps, 'store' | 'workspace'>,
  turn: Turn,
  ts: string,
  message: ShownMessage,
): Promise<void> {
  for (let looks = 0; looks < MAX_LOOKS && (await mayBeRefused(deps, turn)); looks += 1)
    await sleep(LOOK_INTERVAL_MS, undefined, { ref: false });
  // A message that was refused meanwhile has given the button back.
  const render = async () => {
    const use = await buttonUse(deps, turn);
    return use === undefined ? undefined : withButtonUsed(message, use);
  };
  await deps.workspace(turn.workspace)?.posting.editComplete({ channel: turn.channel, ts, render });
}

/** Like `showButtonUse`, for a use that does not come with what the message shows: it is read from Slack. */
export async function showLaterButtonUse(
  deps: Pick<RelayDeps, 'store' | 'workspace'>,
  turn: Turn,
  ts: string,
): Promise<void> {
  const { workspace, channel, thread_ts: threadTs } = turn;
  const request = { channel, threadTs, oldest: ts, latest: ts };
  for await (const read of deps.workspace(workspace)?.readBack.messages(request) ?? []) {
    const message = shownMessageSchema.safeParse(read).data;
    if (read.ts === ts && message !== undefined) return showButtonUse(deps, turn, ts, message);
  }
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
