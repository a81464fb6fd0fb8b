import { LRUCache } from 'lru-cache';
import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { endedNotice, noteWithButtons } from '../../render/messages/button-notes.ts';
import * as strings from '../../render/strings/index.ts';
import type { MessageKey, ThreadKey, Turn, TurnOutcome } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { isOver } from '../../store/threads/turn-phase.ts';
import type { LastStep } from '../../store/threads/turn-steps.ts';
import { mayUseControl, permittedTurn, useOnTurn } from '../access/control-permission.ts';
import { actorName } from '../reading/display-names.ts';
import { asRendered } from '../replies/fallback-forms.ts';
import type { IdempotentPosts } from '../replies/idempotent-posts.ts';
import type {
  ButtonHandlers,
  ControlOutcome,
  ControlRequest,
  PressAnswer,
  TurnPress,
} from '../runtime/control-request.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import { type InboxOutcome, isEarlierTs } from '../runtime/incoming-message.ts';
import { inBackground } from '../runtime/poller.ts';

const NOTICE_PART = 'paused';
const NOTHING_PAUSED = endedNotice(strings.nothingPaused);
const NOT_UPDATED = 'could not update the notice of a paused thread';

type NoticeDeps = Pick<RelayDeps, 'store' | 'workspace'>;

/** The buttons below the notice of a pause, either of which ends it. */
export function pausedMessageButtons(deps: RelayDeps): ButtonHandlers<'send_paused' | 'discard_paused'> {
  /** The sentences that say how this process ended pauses, by turn: a second press shows the same one. */
  const endings = new LRUCache<string, () => Promise<string>>({ max: 1_000 });
  return {
    send_paused: (press) => endPause(deps, endings, press, 'send_paused'),
    discard_paused: (press) => endPause(deps, endings, press, 'discard_paused'),
  };
}

/** Pauses what waits behind a turn that posts its end. `over` if the turn has ended, or all of it came after the stop. */
export async function pauseBehindEnd(
  deps: RelayDeps,
  { turn, person, ts, control }: ControlRequest & { turn: Turn; ts: string; control: string },
): Promise<ControlOutcome> {
  const { store } = deps;
  const waiting = await store.pausedThreads.waitingMessages(turn);
  if (!waiting.some((message) => isEarlierTs(message.ts, ts))) return 'over';
  if (!(await mayUseControl(deps, useOnTurn(turn, person, control)))) return 'refused';
  return store.transaction(async (within) => {
    await within.threads.lock(turn);
    const latest = await within.turns.get(turn.workspace, turn.id);
    if (latest === undefined || isOver(latest)) return 'over';
    await within.pausedThreads.pause(latest);
    deps.log.info({ turn: turn.id, person, control }, 'messages behind the end of a turn paused');
    return 'done';
  });
}

/** After a message came to a paused thread or was withdrawn: updates the notice, or ends the pause. Throws a SlackError. */
export async function updatePauseAfter(deps: RelayDeps, outcome: InboxOutcome, message: MessageKey) {
  if (outcome.kind === 'withdrawn') await updatePausedNotice(deps, message);
  if (outcome.kind !== 'admitted' || !outcome.isPaused) return;
  if (outcome.isQueued) await updatePausedNotice(deps, message);
  else await endPauseIfAlone(deps, outcome.thread, message);
}

/** Updates the notice of a paused thread whose waiting messages changed. Returns at once; never throws. */
export function updatePausedNoticeSoon(deps: RelayDeps, message: MessageKey): void {
  inBackground(updatePausedNotice(deps, message), deps.log, NOT_UPDATED);
}

/** Ends the pause if only this new message waits, because those before it were withdrawn. Else updates the notice. */
async function endPauseIfAlone(deps: RelayDeps, thread: ThreadKey, message: MessageKey): Promise<void> {
  const turnId = await deps.store.pausedThreads.pausedBy(thread);
  if (turnId === undefined) return;
  const isEnded = await deps.store.transaction(async (store) => {
    await store.threads.lock(thread);
    const isResumed = await store.pausedThreads.resumeIfNothingElseWaits(thread, turnId, message.ts);
    if (isResumed) await deps.enqueue(store, thread);
    return isResumed;
  });
  if (isEnded) await editNotice(deps, thread, turnId, async () => NOTHING_PAUSED);
  else await updatePausedNotice(deps, message);
}

/** Updates the notice of a message's thread, if that is paused. Ends the pause if no message waits. */
async function updatePausedNotice(deps: NoticeDeps, key: MessageKey): Promise<void> {
  const message = await deps.store.messages.get(key);
  const turnId = message && (await deps.store.pausedThreads.pausedBy(message));
  if (message === undefined || turnId === undefined) return;
  // A notice that is being posted is brought up to date by the process that posts it.
  if ((await noticeOf(deps, message, turnId))?.state === 'intended') return;
  const isEnded = await endPauseIfNoneWaits(deps, message, turnId);
  const render = async () => (isEnded ? NOTHING_PAUSED : renderNotice(deps, message, turnId));
  await editNotice(deps, message, turnId, render);
}

/** Ends a pause as a button says, and updates the notice. `endings`: how this process ended pauses, by turn. */
async function endPause(
  deps: RelayDeps,
  endings: LRUCache<string, () => Promise<string>>,
  press: TurnPress,
  control: 'send_paused' | 'discard_paused',
): Promise<ControlOutcome | PressAnswer> {
  const { workspace, turnId, person } = press;
  const turn = await permittedTurn(deps, press, control);
  if (typeof turn === 'string') return turn;
  const { channel, thread_ts } = turn;
  const thread = { workspace, channel, thread_ts };
  const count = await deps.store.transaction(async (store) => {
    await store.threads.lock(thread);
    if (!(await store.pausedThreads.resume(thread, turnId))) return undefined;
    const waiting = await store.pausedThreads.waitingMessages(thread);
    if (control === 'send_paused') await deps.enqueue(store, thread);
    else for (const message of waiting) await store.messages.withdraw(message);
    const details = { control, messages: waiting.length };
    await store.audit.add({ ...thread, kind: 'stop', user_id: person, turn_id: turnId, details });
    return waiting.length;
  });
  const textFor = control === 'send_paused' ? strings.pausedSent : strings.pausedDiscarded;
  if (count !== undefined) endings.set(turnId, async () => textFor(count, await actorName(deps, press)));
  // The notice is also edited if the pause had ended before: the process that ended it may not have done so.
  const render = async () => endedNotice((await endings.get(turnId)?.()) ?? strings.nothingPaused);
  inBackground(editNotice(deps, thread, turnId, render, press.messageTs), deps.log, NOT_UPDATED);
  if (count === undefined) return { outcome: 'over', told: strings.nothingPaused };
  deps.log.info({ turn: turnId, person, control, count }, 'paused messages sent or discarded');
  return 'done';
}

/** Edits the notice, if there is one and `render` returns one. `pressedTs`: its ts by a press, if not recorded yet. */
async function editNotice(
  deps: NoticeDeps,
  thread: ThreadKey,
  turnId: string,
  render: () => Promise<RenderedMessage | undefined>,
  pressedTs?: string,
): Promise<void> {
  const { workspace, channel } = thread;
  const ts = pressedTs ?? (await noticeOf(deps, thread, turnId))?.ts ?? undefined;
  if (ts !== undefined) await deps.workspace(workspace)?.posting.editComplete({ channel, ts, render });
}

async function noticeOf({ store }: NoticeDeps, { workspace }: ThreadKey, id: string) {
  return (await store.posts.ofTurn({ workspace, id })).get(NOTICE_PART);
}

/** Finishes a turn. One that paused its thread finishes only while its notice tells how many messages wait. */
export async function postPausedNoticeAndFinish(
  deps: NoticeDeps,
  posts: Pick<IdempotentPosts, 'load' | 'has' | 'shows' | 'post' | 'update'>,
  turn: Turn,
  { outcome, last }: { outcome: TurnOutcome; last: LastStep },
): Promise<void> {
  const finishIfNoPause = (store: Store) => store.turns.finishUnlessPausing(turn, outcome, last);
  if (await finishIfNoPause(deps.store)) return;
  await posts.load();
  // How many messages the thread's notice tells of: 0 without a notice; undefined after an earlier attempt has
  // posted the notice, because nobody knows its number.
  let countShown = posts.has(NOTICE_PART) ? undefined : 0;
  for (;;) {
    const countOrFinished = await deps.store.transaction(async (store) => {
      await store.threads.lock(turn);
      if (await finishIfNoPause(store)) return 'finished';
      const { length } = await store.pausedThreads.waitingMessages(turn);
      if (length !== countShown) return length;
      if (length === 0) await store.pausedThreads.resume(turn, turn.id);
      await store.turns.finish(turn, outcome, last);
      return 'finished';
    });
    if (countOrFinished === 'finished') return;
    const notice = countOrFinished === 0 ? NOTHING_PAUSED : await renderNotice(deps, turn, turn.id);
    // Since the count, the messages went or the pause ended: the next round finds that.
    if (notice === undefined) continue;
    if (posts.has(NOTICE_PART)) await posts.update(NOTICE_PART, notice, [asRendered]);
    else await posts.post(NOTICE_PART, notice, 'notice');
    // `post` leaves a notice that it finds in Slack as it is: the next round then updates it.
    countShown = posts.shows(NOTICE_PART, notice) ? countOrFinished : undefined;
  }
}

/** Ends a pause if no message waits, and returns whether that is so. */
async function endPauseIfNoneWaits({ store }: NoticeDeps, thread: ThreadKey, turnId: string) {
  return store.transaction(async ({ threads, pausedThreads }) => {
    await threads.lock(thread);
    if ((await pausedThreads.waitingMessages(thread)).length > 0) return false;
    await pausedThreads.resume(thread, turnId);
    return true;
  });
}

/** A pause's notice, which counts what waits now. Undefined if the pause has ended, or nothing waits any more. */
async function renderNotice({ store }: NoticeDeps, thread: ThreadKey, turnId: string) {
  if ((await store.pausedThreads.pausedBy(thread)) !== turnId) return undefined;
  const { length } = await store.pausedThreads.waitingMessages(thread);
  if (length === 0) return undefined;
  return noteWithButtons(strings.messagesPaused(length), ['send_paused', 'discard_paused'], turnId);
}
