import type { Transaction } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { pausedNotice, pauseEndedNotice } from '../../render/messages/button-notes.ts';
import * as strings from '../../render/strings/index.ts';
import type { MessageKey, Tables, ThreadKey, Turn, TurnOutcome } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { LastStep } from '../../store/threads/turn-steps.ts';
import { permittedTurn } from '../access/control-permission.ts';
import { actorName } from '../reading/display-names.ts';
import type { IdempotentPosts } from '../replies/idempotent-posts.ts';
import type { ButtonHandlers, ControlOutcome, Press } from '../runtime/control-request.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import type { InboxOutcome } from '../runtime/incoming-message.ts';
import { inBackground } from '../runtime/poller.ts';
import { stopRequesterName } from './stop-control.ts';
import type { WaitingReactions } from './waiting-reactions.ts';

/** The part of the stopped turn's posts that shows how many messages are paused. */
const NOTICE_PART = 'paused';

/** What the notice of a pause needs. */
type NoticeDeps = Pick<RelayDeps, 'store' | 'workspace'>;

/** What a press did to the paused messages. */
interface PauseEnding {
  press: Press;
  control: 'send_paused' | 'discard_paused';
  count: number;
}

/** The messages of a stopped thread: paused until someone sends or discards them. */
export class PausedMessages {
  readonly #deps: RelayDeps;
  readonly #waitingReactions: Pick<WaitingReactions, 'cleanUp'>;
  readonly buttons: ButtonHandlers<'send_paused' | 'discard_paused'> = {
    send_paused: (press) => this.send(press),
    discard_paused: (press) => this.discard(press),
  };
  /** How this process ended pauses, by turn: a press that comes second must not overwrite what the first one did. */
  readonly #endings = new LRUCache<string, PauseEnding>({ max: 1_000 });

  constructor(deps: RelayDeps, waitingReactions: Pick<WaitingReactions, 'cleanUp'>) {
    this.#deps = deps;
    this.#waitingReactions = waitingReactions;
  }

  /** Sends the paused messages to the agent, in their order. */
  async send(press: Press): Promise<ControlOutcome> {
    return this.#endPause(press, 'send_paused');
  }

  /** Discards the paused messages: they never reach the agent. */
  async discard(press: Press): Promise<ControlOutcome> {
    const outcome = await this.#endPause(press, 'discard_paused');
    if (outcome === 'done') this.#waitingReactions.cleanUp();
    return outcome;
  }

  /** Updates the notice when a message joins a paused thread or is withdrawn there. Throws a SlackError. */
  async onInboxOutcome(outcome: InboxOutcome, message: MessageKey): Promise<void> {
    if (outcome.kind === 'withdrawn') await this.#refreshNotice(message);
    if (outcome.kind !== 'admitted' || !outcome.isPaused) return;
    await (outcome.isQueued ? this.#refreshNotice(message) : this.#endIfEmpty(outcome.thread, message));
  }

  /** Updates the notice of a paused thread whose waiting messages changed. Returns at once; never throws. */
  onWaitingChanged(message: MessageKey): void {
    this.#inBackground(this.#refreshNotice(message));
  }

  #inBackground(change: Promise<void>): void {
    inBackground(change, this.#deps.log, 'could not update the notice of a paused thread');
  }

  /** Ends the pause if only this message waits: the others were withdrawn, and nothing holds this one up. */
  async #endIfEmpty(thread: ThreadKey, message: MessageKey): Promise<void> {
    const { store } = this.#deps;
    const turnId = await store.pausedThreads.pausedBy(thread);
    if (turnId === undefined) return;
    const ended = await store.transaction(async (within, trx) => {
      await within.threads.lock(thread);
      const ended = await within.pausedThreads.resumeIfNothingElseWaits(thread, turnId, message.ts);
      if (ended) await this.#deps.enqueue(trx, thread);
      return ended;
    });
    if (ended) await this.#editNotice(thread, turnId, async () => pauseEndedNotice(strings.nothingPaused));
    else await this.#refreshNotice(message);
  }

  async #refreshNotice(key: MessageKey): Promise<void> {
    const { store } = this.#deps;
    const message = await store.messages.get(key);
    const turnId = message && (await store.pausedThreads.pausedBy(message));
    if (message === undefined || turnId === undefined) return;
    const isOver = (await countPaused(this.#deps, message, turnId)) === 0;
    await this.#editNotice(message, turnId, async () =>
      isOver ? pauseEndedNotice(strings.nothingPaused) : renderNotice(this.#deps, message, turnId),
    );
  }

  async #endPause(press: Press, control: 'send_paused' | 'discard_paused'): Promise<ControlOutcome> {
    const { workspace, turnId, person } = press;
    const turn = await permittedTurn(this.#deps, press, control);
    if (typeof turn === 'string') return turn;
    const { channel, thread_ts } = turn;
    const thread = { workspace, channel, thread_ts };
    const count = await this.#deps.store.transaction(async (store, trx) => {
      await store.threads.lock(thread);
      if (!(await store.pausedThreads.resume(thread, turnId))) return undefined;
      const waiting = await store.pausedThreads.waitingMessages(thread);
      if (control === 'send_paused') await this.#deps.enqueue(trx, thread);
      else for (const message of waiting) await store.messages.withdraw(message);
      const details = { control, messages: waiting.length };
      await store.audit.add({ ...thread, kind: 'stop', user_id: person, turn_id: turnId, details });
      return waiting.length;
    });
    if (count !== undefined) this.#endings.set(turnId, { press, control, count });
    // Also if it is over: the process that ended the pause may have died before it updated the notice.
    const render = async () => pauseEndedNotice(await this.#endingText(turnId));
    this.#inBackground(this.#editNotice(thread, turnId, render, press.messageTs));
    if (count === undefined) return 'over';
    this.#deps.log.info({ turn: turnId, person, control, count }, 'paused messages sent or discarded');
    return 'done';
  }

  async #endingText(turnId: string): Promise<string> {
    const ending = this.#endings.get(turnId);
    if (ending === undefined) return strings.nothingPaused;
    const { press, control, count } = ending;
    const who = await actorName(this.#deps, press);
    return control === 'send_paused' ? strings.pausedSent(count, who) : strings.pausedDiscarded(count, who);
  }

  /** Edits the notice, if it has been posted. A pressed one stands, even if a process died before it recorded that. */
  async #editNotice(
    { workspace, channel }: ThreadKey,
    turnId: string,
    render: () => Promise<RenderedMessage | undefined>,
    pressedTs?: string,
  ): Promise<void> {
    const post = (await this.#deps.store.posts.ofTurn({ workspace, id: turnId })).get(NOTICE_PART);
    const ts = (post?.state === 'posted' ? post.ts : undefined) ?? pressedTs;
    if (ts === undefined) return;
    await this.#deps.workspace(workspace)?.posting.editComplete({ channel, ts, render });
  }
}

/** Posts once in a stopped turn's thread how many messages are paused there; nothing if none is. */
async function postPausedNotice(
  deps: NoticeDeps,
  posts: Pick<IdempotentPosts, 'post'>,
  turn: Turn,
): Promise<void> {
  if ((await countPaused(deps, turn, turn.id)) === 0) return;
  const message = await renderNotice(deps, turn, turn.id);
  if (message !== undefined) await posts.post(NOTICE_PART, message, 'notice');
}

/** How a turn ends. `onFinished` is called in the same transaction, under the thread's lock. */
interface TurnEnding {
  outcome: TurnOutcome;
  last: LastStep;
  onFinished?: (store: Store, trx: Transaction<Tables>) => Promise<void>;
}

/** Finishes a turn, after the notice of what is paused behind it: a pause may begin until the turn is finished. */
export async function postPausedNoticeAndFinish(
  deps: NoticeDeps,
  posts: Pick<IdempotentPosts, 'post'>,
  turn: Turn,
  { outcome, last, onFinished }: TurnEnding,
): Promise<void> {
  for (let finished = false; !finished; ) {
    finished = await deps.store.transaction(async (store, trx) => {
      await store.threads.lock(turn);
      if (!(await store.turns.finishUnlessPausing(turn, outcome, last))) {
        const isPaused =
          (await store.pausedThreads.pausedBy(turn)) === turn.id &&
          (await store.pausedThreads.waitingMessages(turn)).length > 0;
        // After a crash the notice may be in Slack without our knowing: posting it finds out.
        const notice = (await store.posts.ofTurn(turn)).get(NOTICE_PART);
        if (isPaused && (notice === undefined || notice.state === 'intended')) return false;
        await store.turns.finish(turn, outcome, last);
      }
      await onFinished?.(store, trx);
      return true;
    });
    if (!finished) await postPausedNotice(deps, posts, turn);
  }
}

/** How many messages are paused; with none left, the pause ends. */
async function countPaused(
  { store: rootStore }: NoticeDeps,
  thread: ThreadKey,
  turnId: string,
): Promise<number> {
  const { workspace, channel, thread_ts } = thread;
  return rootStore.transaction(async (store) => {
    await store.threads.lock({ workspace, channel, thread_ts });
    const { length } = await store.pausedThreads.waitingMessages(thread);
    if (length === 0) await store.pausedThreads.resume(thread, turnId);
    return length;
  });
}

/** The notice's current content; undefined if the thread is no longer paused by this turn. */
async function renderNotice(
  deps: NoticeDeps,
  thread: ThreadKey,
  turnId: string,
): Promise<RenderedMessage | undefined> {
  if ((await deps.store.pausedThreads.pausedBy(thread)) !== turnId) return undefined;
  const who = await stopRequesterName(deps, { workspace: thread.workspace, id: turnId });
  const { length } = await deps.store.pausedThreads.waitingMessages(thread);
  return length === 0 ? undefined : pausedNotice(turnId, length, who);
}
