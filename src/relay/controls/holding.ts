import { heldMessage, heldNoMore } from '../../reply/held.ts';
import type { RenderedMessage } from '../../reply/slack-blocks.ts';
import * as words from '../../reply/words.ts';
import type { ThreadKey } from '../../store/keys.ts';
import type { Message, Turn, TurnOutcome } from '../../store/tables.ts';
import type { Admission } from '../arriving/arrivals.ts';
import type { RelayParts } from '../context.ts';
import type { ThreadPosts } from '../showing/thread-posts.ts';
import { type ControlOutcome, type Press, turnOf } from './control.ts';
import type { Marks } from './marks.ts';
import { permits } from './permission.ts';

/** The part of the stopped turn's posts that says what waits. */
const part = 'held';

/** What waits in a thread since its agent was stopped: it goes on when somebody says so, or is taken back. */
export class Holding {
  readonly #parts: RelayParts;
  readonly #marks: Pick<Marks, 'tidy'>;

  constructor(parts: RelayParts, marks: Pick<Marks, 'tidy'>) {
    this.#parts = parts;
    this.#marks = marks;
  }

  /** Lets what waits go to the agent, in its order. */
  async go(press: Press): Promise<ControlOutcome> {
    return this.#end(press, 'go', words.heldGoesOn, async (_, enqueue) => enqueue());
  }

  /** Takes back what waits: it never reaches the agent. */
  async takeBack(press: Press): Promise<ControlOutcome> {
    const outcome = await this.#end(press, 'take_back', words.heldTakenBack, async (waiting, _, withdraw) => {
      for (const message of waiting) await withdraw(message);
    });
    if (outcome === 'done') this.#marks.tidy();
    return outcome;
  }

  /** A message came to a thread, or was taken back there: where it is held, the post says how many wait now. */
  admitted(admission: Admission, message: { workspace: string; channel: string; ts: string }): void {
    if (admission.kind !== 'admitted' && admission.kind !== 'withdrawn') return;
    if (admission.kind === 'admitted' && !admission.held) return;
    if (admission.kind === 'admitted' && !admission.waits)
      this.#inBackground(this.#endEmpty(admission.thread, message));
    else this.changed(message);
  }

  /** What waits was changed, by a button or a sign: where the thread is held, the post says how many wait now. */
  changed(message: { workspace: string; channel: string; ts: string }): void {
    this.#inBackground(this.#refresh(message));
  }

  #inBackground(change: Promise<void>): void {
    change.catch((error: unknown) =>
      this.#parts.log.debug({ err: error }, 'the number of held messages was not shown'),
    );
  }

  /** Where nothing waits but this message, what was held was taken back, and the message is not to be. */
  async #endEmpty(
    thread: ThreadKey,
    message: { workspace: string; channel: string; ts: string },
  ): Promise<void> {
    const { store } = this.#parts;
    const turnId = await store.holds.holder(thread);
    if (turnId === undefined) return;
    const ended = await store.transaction(async (within, trx) => {
      await within.threads.lock(thread);
      const ended = await within.holds.endBut(thread, turnId, message.ts);
      if (ended) await this.#parts.enqueue(trx, thread);
      return ended;
    });
    if (ended) await this.#show(thread, turnId, async () => heldNoMore(words.heldEmpty));
    else await this.#refresh(message);
  }

  async #refresh(key: { workspace: string; channel: string; ts: string }): Promise<void> {
    const { store } = this.#parts;
    const message = await store.messages.get(key);
    const turnId = message && (await store.holds.holder(message));
    if (message === undefined || turnId === undefined) return;
    if ((await countHeld(this.#parts, message, turnId)) === 0) {
      await this.#show(message, turnId, async () => heldNoMore(words.heldEmpty));
      return;
    }
    await this.#show(message, turnId, () => rendered(this.#parts, message, turnId));
  }

  async #end(
    press: Press,
    control: string,
    sentence: (count: number, who: string) => string,
    act: (
      waiting: readonly Message[],
      enqueue: () => Promise<void>,
      withdraw: (message: Message) => Promise<unknown>,
    ) => Promise<void>,
  ): Promise<ControlOutcome> {
    const { workspace, turnId, person } = press;
    const turn = await turnOf(this.#parts.store, press);
    if (turn === undefined) return 'unknown';
    const { channel, root } = turn;
    const thread = { workspace, channel, root };
    if (!(await permits(this.#parts, { ...thread, person, turn, control }))) return 'refused';
    const count = await this.#parts.store.transaction(async (store, trx) => {
      await store.threads.lock(thread);
      if (!(await store.holds.end(thread, turnId))) return undefined;
      const waiting = await store.holds.waiting(thread);
      await act(
        waiting,
        () => this.#parts.enqueue(trx, thread),
        (message) => store.messages.withdraw(message),
      );
      const details = { control, messages: waiting.length };
      await store.audit.add({ ...thread, kind: 'stop', person, turn: turnId, details });
      return waiting.length;
    });
    if (count === undefined) return 'over';
    this.#parts.log.info({ turn: turnId, person, control, count }, 'a held thread was let go');
    const tell = async () => {
      const who = (await this.#parts.workspace(workspace)?.people.personName(person)) ?? '';
      await this.#show(thread, turnId, async () => heldNoMore(sentence(count, who)));
    };
    tell().catch((error: unknown) =>
      this.#parts.log.debug({ err: error }, 'the end of a hold was not shown'),
    );
    return 'done';
  }

  /** Brings the post up to date; there may be none yet. */
  async #show(
    { workspace, channel }: ThreadKey,
    turnId: string,
    render: () => Promise<RenderedMessage | undefined>,
  ): Promise<void> {
    const post = (await this.#parts.store.posts.of({ workspace, id: turnId })).get(part);
    if (post?.state !== 'posted' || post.ts === null) return;
    const since = Date.now();
    await this.#parts.workspace(workspace)?.posting.edit({
      channel,
      ts: post.ts,
      render,
      state: () => ({ final: true, blank: false, unseenSince: since }),
    });
  }
}

/** Says in a stopped turn's thread how many messages wait there, once; nothing where none does. */
async function sayHeld(
  parts: RelayParts,
  posts: Pick<ThreadPosts, 'load' | 'post'>,
  turn: Turn,
): Promise<void> {
  if ((await parts.store.holds.holder(turn)) !== turn.id) return;
  if ((await countHeld(parts, turn, turn.id)) === 0) return;
  const message = await rendered(parts, turn, turn.id);
  if (message === undefined) return;
  await posts.load();
  await posts.post(part, message, '', 'notice');
}

/** Ends a turn when its thread was told what waits there; a hold may begin as long as the turn is not finished. */
export async function sayHeldAndFinish(
  parts: RelayParts,
  posts: Pick<ThreadPosts, 'load' | 'post'>,
  turn: Turn,
  outcome: TurnOutcome,
): Promise<void> {
  for (let finished = false; !finished; ) {
    await sayHeld(parts, posts, turn);
    finished = await parts.store.transaction(async (store) => {
      await store.threads.lock(turn);
      const isHeld =
        (await store.holds.holder(turn)) === turn.id && (await store.holds.waiting(turn)).length > 0;
      if (isHeld && !(await store.posts.of(turn)).has(part)) return false;
      await store.turns.finish(turn, outcome);
      return true;
    });
  }
}

/** How many messages wait; a hold of none ends. */
async function countHeld({ store: all }: RelayParts, thread: ThreadKey, turnId: string): Promise<number> {
  const { workspace, channel, root } = thread;
  return all.transaction(async (store) => {
    await store.threads.lock({ workspace, channel, root });
    const { length } = await store.holds.waiting(thread);
    if (length === 0) await store.holds.end(thread, turnId);
    return length;
  });
}

/** The post as it is to be now; undefined where the thread is not held any more. */
async function rendered(
  parts: RelayParts,
  thread: ThreadKey,
  turnId: string,
): Promise<RenderedMessage | undefined> {
  if ((await parts.store.holds.holder(thread)) !== turnId) return undefined;
  const stopper = (await parts.store.turns.get(thread.workspace, turnId))?.stop_asked_by ?? '';
  const who = stopper === '' ? '' : await parts.workspace(thread.workspace)?.people.personName(stopper);
  const { length } = await parts.store.holds.waiting(thread);
  return length === 0 ? undefined : heldMessage(turnId, length, who ?? '');
}
