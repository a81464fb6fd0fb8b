import { LRUCache } from 'lru-cache';
import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { endedNotice, noteWithButtons } from '../../render/messages/button-notes.ts';
import * as strings from '../../render/strings/index.ts';
import type { MessageKey, ThreadKey, Turn, TurnOutcome } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { isOver } from '../../store/threads/turn-phase.ts';
import type { LastStep } from '../../store/threads/turn-steps.ts';
import { mayUseControl, permittedTurn, useOnTurn } from '../access/control-permission.ts';
import { actorName, stopRequesterName } from '../reading/display-names.ts';
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

/** Pauses what waits behind a turn that posts its end. `over` if that has ended, or all came after the stop. */
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

/** Updates a paused thread's notice after a message came or went, or ends the pause. Throws a SlackError. */
export async function updatePauseAfter(deps: RelayDeps, outcome: InboxOutcome, message: MessageKey) {
  if (outcome.kind === 'withdrawn') await updatePausedNotice(deps, message);
  if (outcome.kind !== 'admitted' || !outcome.isPaused) return;
  if (outcome.isQueued) await updatePausedNotice(deps, message);
  else await endPauseIfOnly(deps, outcome.thread, message);
}

/** Updates the notice of a paused thread whose waiting messages changed. Returns at once; never throws. */
export function updatePausedNoticeSoon(deps: RelayDeps, message: MessageKey): void {
  inBackground(updatePausedNotice(deps, message), deps.log, NOT_UPDATED);
}

const NOT_UPDATED = 'could not update the notice of a paused thread';

/** Ends a pause if only this new message waits, because all before were withdrawn; or updates its notice. */
async function endPauseIfOnly(deps: RelayDeps, thread: ThreadKey, message: MessageKey): Promise<void> {
  const turnId = await deps.store.pausedThreads.pausedBy(thread);
  if (turnId === undefined) return;
  const ended = await deps.store.transaction(async (store) => {
    await store.threads.lock(thread);
    const isEnded = await store.pausedThreads.resumeIfNothingElseWaits(thread, turnId, message.ts);
    if (isEnded) await deps.enqueue(store, thread);
    return isEnded;
  });
  if (ended) await editNotice(deps, thread, turnId, async () => endedNotice(strings.nothingPaused));
  else await updatePausedNotice(deps, message);
}

/** Updates the notice of the paused thread that a message is in. Ends the pause if no message waits. */
async function updatePausedNotice(deps: NoticeDeps, key: MessageKey): Promise<void> {
  const message = await deps.store.messages.get(key);
  const turnId = message && (await deps.store.pausedThreads.pausedBy(message));
  if (message === undefined || turnId === undefined) return;
  // A notice that is being posted is brought up to date by the process that posts it.
  if ((await noticeOf(deps, message, turnId))?.state === 'intended') return;
  const count = await countPausedOrResume(deps, message, turnId);
  await editNotice(deps, message, turnId, () => renderNotice(deps, message, turnId, count));
}

/** What someone reads whose message waits behind a stop; undefined if its thread is not paused. */
export async function noteIfPaused(deps: RelayDeps, thread: ThreadKey): Promise<string | undefined> {
  const id = await deps.store.pausedThreads.pausedBy(thread);
  if (id === undefined) return undefined;
  return strings.waitsBehindStop(await stopRequesterName(deps, { ...thread, id }));
}

/** Ends a pause as a button says, and updates the notice. `endings`: how this process ended pauses. */
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
    if (!(await store.pausedThreads.resume(thread, turnId))) return 'over';
    const waiting = await store.pausedThreads.waitingMessages(thread);
    if (control === 'send_paused') await deps.enqueue(store, thread);
    else for (const message of waiting) await store.messages.withdraw(message);
    const details = { control, messages: waiting.length };
    await store.audit.add({ ...thread, kind: 'stop', user_id: person, turn_id: turnId, details });
    return waiting.length;
  });
  const textFor = control === 'send_paused' ? strings.pausedSent : strings.pausedDiscarded;
  if (count !== 'over') endings.set(turnId, async () => textFor(count, await actorName(deps, press)));
  // Also if the pause had ended: the process that ended it may not have updated the notice.
  const render = async () => endedNotice((await endings.get(turnId)?.()) ?? strings.nothingPaused);
  inBackground(editNotice(deps, thread, turnId, render, press.messageTs), deps.log, NOT_UPDATED);
  if (count === 'over') return { outcome: count, told: strings.nothingPaused };
  deps.log.info({ turn: turnId, person, control, count }, 'paused messages sent or discarded');
  return 'done';
}

/** Edits the notice, if there is one and `render` gives one. `pressedTs`: its ts as pressed, maybe not recorded yet. */
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
  // How many messages the thread's notice tells of: 0 without a notice; undefined if an earlier attempt has
  // posted one, because nobody knows what that tells.
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
    const notice = await renderNotice(deps, turn, turn.id, countOrFinished);
    // The messages went, or the pause ended, since they were counted: the next round finds that.
    if (notice === undefined) continue;
    if (posts.has(NOTICE_PART)) await posts.update(NOTICE_PART, notice, [asRendered]);
    else await posts.post(NOTICE_PART, notice, 'notice');
    // `post` leaves a notice that it finds in Slack as it is: the next round then updates it.
    countShown = posts.shows(NOTICE_PART, notice) ? countOrFinished : undefined;
  }
}

/** Counts the paused messages; if there are none, ends the pause. */
async function countPausedOrResume({ store }: NoticeDeps, thread: ThreadKey, turnId: string) {
  return store.transaction(async ({ threads, pausedThreads }) => {
    await threads.lock(thread);
    const { length } = await pausedThreads.waitingMessages(thread);
    if (length === 0) await pausedThreads.resume(thread, turnId);
    return length;
  });
}

/** A pause's notice: ended if `count` is 0. Undefined if the pause, or all that waited, went meanwhile. */
async function renderNotice(deps: NoticeDeps, thread: ThreadKey, turnId: string, count: number) {
  if (count === 0) return endedNotice(strings.nothingPaused);
  if ((await deps.store.pausedThreads.pausedBy(thread)) !== turnId) return undefined;
  // Counted anew: the edit may have waited long.
  const { length } = await deps.store.pausedThreads.waitingMessages(thread);
  if (length === 0) return undefined;
  return noteWithButtons(strings.messagesPaused(length), ['send_paused', 'discard_paused'], turnId);
}
