import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Posting, ReactionOutcome } from '../../slack/posting.ts';
import type { MessageKey, ThreadKey } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { type InboxOutcome, WAITING_EMOJI } from '../runtime/incoming-message.ts';
import { inBackground, Poller } from '../runtime/poller.ts';
import { isOverdue } from '../runtime/retry-and-giving-up.ts';

/** Most reactions per workspace at a time. Slack allows removing about 17 a minute, so all go within half a minute. */
const MAX_WAITING_REACTIONS = 5;
/** Most reactions removed per pass, and the pause after a pass that left some (ms). */
const MAX_REMOVED_AT_ONCE = 50;
const CLEAN_UP_PAUSE_MS = 2_000;
/** After this long (ms) a reaction that cannot be removed stays. Until then, it counts. */
const GIVE_UP_AFTER_MS = 30 * 60_000;
/** Most failed removals that are remembered; the others are retried at once. */
const MAX_FAILURES = 1_000;

/** What waiting reactions need of `RelayDeps`. */
export interface WaitingReactionsDeps {
  readonly store: Pick<Store, 'messages' | 'turns'>;
  readonly log: Logger;
  workspace(id: string): { posting: Pick<Posting, 'addReaction' | 'removeReaction'> } | undefined;
}

/** The hourglass on messages that wait for their turn. */
export class WaitingReactions {
  readonly #deps: WaitingReactionsDeps;
  #reserving: Promise<unknown> = Promise.resolve();
  readonly #cleaning: Poller;
  /** Failed removals by message: since when, and when the next attempt is due (ms since 1970). */
  readonly #failures = new LRUCache<string, { since: Date; retryAt: number }>({ max: MAX_FAILURES });

  constructor(deps: WaitingReactionsDeps) {
    this.#deps = deps;
    this.#cleaning = new Poller({
      poll: () => this.#removeStale(),
      onError: (error) => deps.log.debug({ err: error }, 'waiting reactions stay until the next cleanup'),
    });
  }

  /** Adds the reaction to a message that has to wait. */
  async onInboxOutcome(outcome: InboxOutcome, message: MessageKey): Promise<void> {
    if (outcome.kind === 'admitted' && outcome.isQueued) await this.#add(message);
  }

  /** Adds the reaction to the messages that wait in a thread without one. Returns at once; never throws. */
  addToWaiting(thread: ThreadKey): void {
    const adding = this.#deps.store.messages
      .withoutWaitingReaction(thread, MAX_WAITING_REACTIONS)
      .then((messages) => Promise.all(messages.map((message) => this.#add(message))));
    inBackground(adding, this.#deps.log, 'could not add waiting reactions');
  }

  /** Removes the reactions of messages that no longer wait. Returns at once; never throws. */
  cleanUp(): void {
    this.#cleaning.pollNow();
  }

  async #removeStale(): Promise<void> {
    // Failed removals must not crowd out the others.
    const most = MAX_REMOVED_AT_ONCE + this.#failures.size;
    const stale = await this.#deps.store.messages.withStaleWaitingReaction(most);
    let left = 0;
    for (const key of stale) if (!(await this.#remove(key))) left += 1;
    if (left === 0) return;
    this.cleanUp();
    await sleep(CLEAN_UP_PAUSE_MS, undefined, { ref: false });
  }

  /** True if the reaction is gone, or given up. */
  async #remove(key: MessageKey): Promise<boolean> {
    const name = nameOf(key);
    const failure = this.#failures.get(name);
    const now = Date.now();
    if (failure !== undefined && now < failure.retryAt) return false;
    const outcome = await this.#removeAtSlack(key);
    const since = failure?.since ?? new Date(now);
    if (outcome === 'later' && !isOverdue(since, GIVE_UP_AFTER_MS)) {
      // Each pause is as long as all earlier ones together.
      this.#failures.set(name, { since, retryAt: 2 * now - since.getTime() });
      return false;
    }
    if (outcome !== 'done') this.#deps.log.warn({ ...key, outcome }, 'gave up removing a waiting reaction');
    const { messages } = this.#deps.store;
    await messages.setWaitingReaction(key, false);
    this.#failures.delete(name);
    // The agent did not take it, so that it waits again.
    const message = await messages.get(key);
    if (message?.state === 'waiting') this.addToWaiting(message);
    return true;
  }

  async #removeAtSlack({ workspace, channel, ts }: MessageKey): Promise<ReactionOutcome> {
    try {
      const posting = this.#deps.workspace(workspace)?.posting;
      return (await posting?.removeReaction({ channel, ts, name: WAITING_EMOJI })) ?? 'later';
    } catch (error) {
      this.#deps.log.debug({ err: error }, 'could not remove a waiting reaction');
      return 'later';
    }
  }

  async #add(key: MessageKey): Promise<void> {
    const { messages, turns } = this.#deps.store;
    const posting = this.#deps.workspace(key.workspace)?.posting;
    if (posting === undefined || !(await this.#reserve(key))) return;
    await posting.addReaction({ channel: key.channel, ts: key.ts, name: WAITING_EMOJI });
    // A turn may have begun meanwhile, and removed the reaction before it was there.
    await messages.setWaitingReaction(key, true);
    const message = await messages.get(key);
    if (message?.state !== 'waiting' || (await turns.ofMessage(key)) !== undefined) this.cleanUp();
  }

  /** Records a reaction before it is added, so that the process that begins the turn removes it. False if there are enough. */
  async #reserve(key: MessageKey): Promise<boolean> {
    const { messages } = this.#deps.store;
    // One at a time, so that the count is right.
    const reserved = this.#reserving.then(async () => {
      if ((await messages.countWaitingReactions(key.workspace)) >= MAX_WAITING_REACTIONS) return false;
      await messages.setWaitingReaction(key, true);
      return true;
    });
    this.#reserving = reserved.catch(() => undefined);
    return reserved;
  }
}

function nameOf({ workspace, channel, ts }: MessageKey): string {
  return `${workspace}/${channel}/${ts}`;
}
