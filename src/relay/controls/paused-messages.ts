import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { pausedNotice, pauseEndedNotice } from '../../render/messages/paused-notice.ts';
import * as strings from '../../render/strings/index.ts';
import type { ThreadKey } from '../../store/keys.ts';
import type { Message, Turn, TurnOutcome } from '../../store/schema.ts';
import { mayUseControl } from '../access/control-permission.ts';
import type { ThreadPosts } from '../replies/thread-posts.ts';
import { type ControlOutcome, type Press, turnOf } from '../runtime/control-types.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import type { InboxOutcome } from '../runtime/incoming-message.ts';
import type { WaitingReactions } from './waiting-reactions.ts';

/** The part of the stopped turn's posts that says what waits. */
const NOTICE_PART = 'held';

/** What waits in a thread since its agent was stopped: it goes on when somebody says so, or is taken back. */
export class PausedMessages {
  readonly #deps: RelayDeps;
  readonly #waitingReactions: Pick<WaitingReactions, 'cleanUp'>;

  constructor(deps: RelayDeps, waitingReactions: Pick<WaitingReactions, 'cleanUp'>) {
    this.#deps = deps;
    this.#waitingReactions = waitingReactions;
  }

  /** Lets what waits go to the agent, in its order. */
  async resume(press: Press): Promise<ControlOutcome> {
    return this.#endPause(press, 'go', strings.pausedSent, async (_, enqueue) => enqueue());
  }

  /** Takes back what waits: it never reaches the agent. */
  async takeBack(press: Press): Promise<ControlOutcome> {
    const outcome = await this.#endPause(
      press,
      'take_back',
      strings.pausedDiscarded,
      async (waiting, _, withdraw) => {
        for (const message of waiting) await withdraw(message);
      },
    );
    if (outcome === 'done') this.#waitingReactions.cleanUp();
    return outcome;
  }

  /** A message came to a thread, or was taken back there: where it is held, the post says how many wait now. */
  onInboxOutcome(
    inboxOutcome: InboxOutcome,
    message: { workspace: string; channel: string; ts: string },
  ): void {
    if (inboxOutcome.kind !== 'admitted' && inboxOutcome.kind !== 'withdrawn') return;
    if (inboxOutcome.kind === 'admitted' && !inboxOutcome.isPaused) return;
    if (inboxOutcome.kind === 'admitted' && !inboxOutcome.isQueued)
      this.#inBackground(this.#endIfEmpty(inboxOutcome.thread, message));
    else this.onWaitingChanged(message);
  }

  /** What waits was changed, by a button or a sign: where the thread is held, the post says how many wait now. */
  onWaitingChanged(message: { workspace: string; channel: string; ts: string }): void {
    this.#inBackground(this.#refreshNotice(message));
  }

  #inBackground(change: Promise<void>): void {
    change.catch((error: unknown) =>
      this.#deps.log.debug({ err: error }, 'the number of held messages was not shown'),
    );
  }

  /** Where nothing waits but this message, what was held was taken back, and the message is not to be. */
  async #endIfEmpty(
    thread: ThreadKey,
    message: { workspace: string; channel: string; ts: string },
  ): Promise<void> {
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

  async #refreshNotice(key: { workspace: string; channel: string; ts: string }): Promise<void> {
    const { store } = this.#deps;
    const message = await store.messages.get(key);
    const turnId = message && (await store.pausedThreads.pausedBy(message));
    if (message === undefined || turnId === undefined) return;
    if ((await countPaused(this.#deps, message, turnId)) === 0) {
      await this.#editNotice(message, turnId, async () => pauseEndedNotice(strings.nothingPaused));
      return;
    }
    await this.#editNotice(message, turnId, () => renderNotice(this.#deps, message, turnId));
  }

  async #endPause(
    press: Press,
    control: string,
    noticeText: (count: number, who: string) => string,
    apply: (
      waiting: readonly Message[],
      enqueue: () => Promise<void>,
      withdraw: (message: Message) => Promise<unknown>,
    ) => Promise<void>,
  ): Promise<ControlOutcome> {
    const { workspace, turnId, person } = press;
    const turn = await turnOf(this.#deps.store, press);
    if (turn === undefined) return 'unknown';
    const { channel, root } = turn;
    const thread = { workspace, channel, root };
    if (!(await mayUseControl(this.#deps, { ...thread, person, turn, control }))) return 'refused';
    const count = await this.#deps.store.transaction(async (store, trx) => {
      await store.threads.lock(thread);
      if (!(await store.pausedThreads.resume(thread, turnId))) return undefined;
      const waiting = await store.pausedThreads.waitingMessages(thread);
      await apply(
        waiting,
        () => this.#deps.enqueue(trx, thread),
        (message) => store.messages.withdraw(message),
      );
      const details = { control, messages: waiting.length };
      await store.audit.add({ ...thread, kind: 'stop', person, turn: turnId, details });
      return waiting.length;
    });
    if (count === undefined) return 'over';
    this.#deps.log.info({ turn: turnId, person, control, count }, 'a held thread was let go');
    const updateNotice = async () => {
      const who = (await this.#deps.workspace(workspace)?.people.personName(person)) ?? '';
      await this.#editNotice(thread, turnId, async () => pauseEndedNotice(noticeText(count, who)));
    };
    updateNotice().catch((error: unknown) =>
      this.#deps.log.debug({ err: error }, 'the end of a hold was not shown'),
    );
    return 'done';
  }

  /** Brings the post up to date; there may be none yet. */
  async #editNotice(
    { workspace, channel }: ThreadKey,
    turnId: string,
    render: () => Promise<RenderedMessage | undefined>,
  ): Promise<void> {
    const post = (await this.#deps.store.posts.ofTurn({ workspace, id: turnId })).get(NOTICE_PART);
    if (post?.state !== 'posted' || post.ts === null) return;
    const requestedAt = Date.now();
    await this.#deps.workspace(workspace)?.posting.edit({
      channel,
      ts: post.ts,
      render,
      state: () => ({ final: true, blank: false, unseenSince: requestedAt }),
    });
  }
}

/** Says in a stopped turn's thread how many messages wait there, once; nothing where none does. */
async function postPausedNotice(
  deps: RelayDeps,
  posts: Pick<ThreadPosts, 'load' | 'post'>,
  turn: Turn,
): Promise<void> {
  if ((await deps.store.pausedThreads.pausedBy(turn)) !== turn.id) return;
  if ((await countPaused(deps, turn, turn.id)) === 0) return;
  const message = await renderNotice(deps, turn, turn.id);
  if (message === undefined) return;
  await posts.load();
  await posts.post(NOTICE_PART, message, '', 'notice');
}

/** Ends a turn when its thread was told what waits there; a hold may begin as long as the turn is not finished. */
export async function postPausedNoticeAndFinish(
  deps: RelayDeps,
  posts: Pick<ThreadPosts, 'load' | 'post'>,
  turn: Turn,
  outcome: TurnOutcome,
): Promise<void> {
  for (let finished = false; !finished; ) {
    await postPausedNotice(deps, posts, turn);
    finished = await deps.store.transaction(async (store) => {
      await store.threads.lock(turn);
      const isPaused =
        (await store.pausedThreads.pausedBy(turn)) === turn.id &&
        (await store.pausedThreads.waitingMessages(turn)).length > 0;
      if (isPaused && !(await store.posts.ofTurn(turn)).has(NOTICE_PART)) return false;
      await store.turns.finish(turn, outcome);
      return true;
    });
  }
}

/** How many messages wait; a hold of none ends. */
async function countPaused(
  { store: rootStore }: RelayDeps,
  thread: ThreadKey,
  turnId: string,
): Promise<number> {
  const { workspace, channel, root } = thread;
  return rootStore.transaction(async (store) => {
    await store.threads.lock({ workspace, channel, root });
    const { length } = await store.pausedThreads.waitingMessages(thread);
    if (length === 0) await store.pausedThreads.resume(thread, turnId);
    return length;
  });
}

/** The post as it is to be now; undefined where the thread is not held any more. */
async function renderNotice(
  deps: RelayDeps,
  thread: ThreadKey,
  turnId: string,
): Promise<RenderedMessage | undefined> {
  if ((await deps.store.pausedThreads.pausedBy(thread)) !== turnId) return undefined;
  const stopper = (await deps.store.turns.get(thread.workspace, turnId))?.stop_asked_by ?? '';
  const who = stopper === '' ? '' : await deps.workspace(thread.workspace)?.people.personName(stopper);
  const { length } = await deps.store.pausedThreads.waitingMessages(thread);
  return length === 0 ? undefined : pausedNotice(turnId, length, who ?? '');
}
