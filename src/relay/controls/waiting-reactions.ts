import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Posting, ReactionOutcome } from '../../slack/posting.ts';
import type { MessageKey, ThreadKey } from '../../store/keys.ts';
import type { Store } from '../../store/store.ts';
import type { InboxOutcome } from '../runtime/incoming-message.ts';
import { isOverdue } from '../runtime/retry.ts';
import { WAITING_EMOJI } from '../runtime/waiting-emoji.ts';

/** Marks in a workspace at one time: Slack lets us take about 17 a minute away, so the last is gone in time. */
const MAX_WAITING_REACTIONS = 5;
/** A workspace with enough marks is not looked at again for so long (ms). */
const FULL_RECHECK_MS = 1_000;
/** How many marks are taken away in one go, and the pause (ms) after a go that left some. */
const MAX_REMOVED_AT_ONCE = 50;
const CLEAN_UP_PAUSE_MS = 2_000;
/** A mark that could not be taken away for so long (ms) counts no more, and is only tried again by upkeep. */
const stuckMs = 60_000;
/** One that could not be taken away for so long (ms) stays where it is. */
const giveUpAfterMs = 60 * 60_000;

/** A mark that could not be taken away: since when, and until when (ms, `Date.now()`) it is left alone. */
interface LateMark {
  workspace: string;
  since: Date;
  until: number;
}

/** What marks need; a `RelayParts` will do. */
export interface MarksParts {
  readonly store: Pick<Store, 'messages' | 'turns'>;
  readonly log: Logger;
  workspace(id: string): { posting: Pick<Posting, 'addReaction' | 'removeReaction'> } | undefined;
}

/** The small signs that answer people at once; none of them holds an acknowledgement up. */
export class WaitingReactions {
  readonly #deps: MarksParts;
  #reserving: Promise<unknown> = Promise.resolve();
  #isCleaningUp = false;
  #isCleanUpDue = false;
  /** Workspaces that had enough marks a moment ago. */
  readonly #fullWorkspaces = new Set<string>();
  readonly #late = new Map<string, LateMark>();

  constructor(deps: MarksParts) {
    this.#deps = deps;
  }

  /** A message that waits its turn carries a mark until its turn begins. */
  onInboxOutcome(
    inboxOutcome: InboxOutcome,
    message: { workspace: string; channel: string; ts: string },
  ): void {
    if (inboxOutcome.kind !== 'admitted' || !inboxOutcome.isQueued) return;
    this.#add(message).catch((error: unknown) => this.#deps.log.debug({ err: error }, 'a mark was left out'));
  }

  /** Marks what waits in a thread behind the turn that begins, and has no mark yet. */
  addToWaiting(thread: ThreadKey): void {
    this.#deps.store.messages
      .withoutWaitingReaction(thread, MAX_WAITING_REACTIONS)
      .then((messages) => Promise.all(messages.map((message) => this.#add(message))))
      .catch((error: unknown) => this.#deps.log.debug({ err: error }, 'marks were left out'));
  }

  /** Takes the marks away of messages that do not wait any more. */
  cleanUp(): void {
    this.#isCleanUpDue = true;
    if (this.#isCleaningUp) return;
    this.#isCleaningUp = true;
    this.#removeStale()
      .catch((error: unknown) =>
        this.#deps.log.debug({ err: error }, 'marks stay until the next turn begins'),
      )
      .finally(() => {
        this.#isCleaningUp = false;
      });
  }

  async #removeStale(): Promise<void> {
    let left = 0;
    while (this.#isCleanUpDue || left > 0) {
      this.#isCleanUpDue = false;
      if (left > 0) await sleep(CLEAN_UP_PAUSE_MS, undefined, { ref: false });
      // Those that are left alone must not stand in the way of others.
      const most = MAX_REMOVED_AT_ONCE + this.#late.size;
      const stale = await this.#deps.store.messages.withStaleWaitingReaction(most);
      if (stale.length < most) this.#forgetLate(stale);
      left = 0;
      for (const key of stale) if (!(await this.#remove(key))) left += 1;
    }
  }

  /** True where the mark is gone, given up, or left to upkeep. */
  async #remove(key: MessageKey): Promise<boolean> {
    const name = nameOf(key);
    const late = this.#late.get(name);
    const now = Date.now();
    const isStuckNow = late !== undefined && isStuck(late);
    if (late !== undefined && now < late.until) return isStuckNow;
    const outcome = await this.#takeAway(key);
    const since = late?.since ?? new Date(now);
    if (outcome === 'later' && !isOverdue(since, giveUpAfterMs)) {
      // Each pause is as long as all before it.
      this.#late.set(name, { workspace: key.workspace, since, until: 2 * now - since.getTime() });
      return isStuckNow;
    }
    if (outcome !== 'done') this.#deps.log.warn({ ...key, outcome }, 'a mark is given up; it stays');
    await this.#deps.store.messages.setWaitingReaction(key, false);
    this.#late.delete(name);
    return true;
  }

  async #takeAway({ workspace, channel, ts }: MessageKey): Promise<ReactionOutcome> {
    try {
      const posting = this.#deps.workspace(workspace)?.posting;
      return (await posting?.removeReaction({ channel, ts, name: WAITING_EMOJI })) ?? 'later';
    } catch (error) {
      this.#deps.log.debug({ err: error }, 'a mark could not be taken away');
      return 'later';
    }
  }

  /** Forgets what another process took away. */
  #forgetLate(wrong: readonly MessageKey[]): void {
    const names = new Set(wrong.map(nameOf));
    for (const name of this.#late.keys()) if (!names.has(name)) this.#late.delete(name);
  }

  #stuckIn(workspace: string): number {
    return [...this.#late.values()].filter((late) => late.workspace === workspace && isStuck(late)).length;
  }

  async #add({ workspace, channel, ts }: MessageKey): Promise<void> {
    const key = { workspace, channel, ts };
    const { messages, turns } = this.#deps.store;
    const posting = this.#deps.workspace(workspace)?.posting;
    if (posting === undefined || !(await this.#reserve(key))) return;
    await posting.addReaction({ channel, ts, name: WAITING_EMOJI });
    const message = await messages.get(key);
    if (message?.state === 'waiting' && (await turns.ofMessage(key)) === undefined) return;
    // Its turn began meanwhile, and perhaps found no mark to take away.
    await messages.setWaitingReaction(key, true);
    this.cleanUp();
  }

  /** Notes a mark before it is set: whoever begins the turn must know of it. False where there are enough. */
  async #reserve(key: MessageKey): Promise<boolean> {
    const { messages } = this.#deps.store;
    if (this.#fullWorkspaces.has(key.workspace)) return false;
    // One after the other, so that the count is right.
    const reserved = this.#reserving.then(async () => {
      if (this.#fullWorkspaces.has(key.workspace)) return false;
      if (
        (await messages.countWaitingReactions(key.workspace)) - this.#stuckIn(key.workspace) >=
        MAX_WAITING_REACTIONS
      ) {
        this.#fullWorkspaces.add(key.workspace);
        setTimeout(() => this.#fullWorkspaces.delete(key.workspace), FULL_RECHECK_MS).unref();
        return false;
      }
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

function isStuck({ since }: LateMark): boolean {
  return isOverdue(since, stuckMs);
}
