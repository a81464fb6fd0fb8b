import type { Permit } from '../../slack/permit-queue.ts';
import type { TurnLocation } from '../../store/schema.ts';
import { replyPart } from '../../store/threads/posts.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { INTENT_MAX_AGE_MS } from '../runtime/unknown-outcome.ts';

/** The first reply of a turn that begins at `begunAt` (`performance.now()`), and what is asked for in advance for it. */
export interface FirstReply {
  begunAt: number;
  /** Whether another organisation can read the channel; undefined for a direct conversation. */
  isShared?: Promise<boolean | undefined> | undefined;
  permit: Promise<Permit | undefined>;
}

/** Gives back a permit that no call needs, once it comes. Never throws. */
export async function releaseUnused(permit: FirstReply['permit'] | undefined): Promise<void> {
  (await permit?.catch(() => undefined))?.release();
}

/**
 * The intent to post a turn's first reply, which `turns.begin` records, and the permit asked for with it. A call may use it
 * for INTENT_MAX_AGE_MS, because a search for the reply takes the call as ended `slackCallLifetimeMs` after the intent.
 */
export class FirstReplyIntent {
  readonly #work: ThreadWork;
  readonly #turn: TurnLocation;
  /** Undefined once the intent is used or withdrawn. */
  #begunAt: number | undefined;
  /** Undefined once the call has taken it. */
  #permit: FirstReply['permit'] | undefined;
  /** Withdraws an intent that has become too old, so that after a crash nobody looks for the reply. */
  readonly #expiry: NodeJS.Timeout;
  /** The withdrawal, while it is under way: a new intent waits for it. */
  #withdrawal: Promise<void> | undefined;

  constructor(work: ThreadWork, turn: TurnLocation, { begunAt, permit }: FirstReply) {
    this.#work = work;
    this.#turn = turn;
    this.#begunAt = begunAt;
    this.#permit = permit;
    this.#expiry = setTimeout(() => void this.withdraw().catch(() => undefined), INTENT_MAX_AGE_MS).unref();
  }

  /** The permit for the call, which uses it or gives it back; undefined the next time. */
  takePermit(): FirstReply['permit'] | undefined {
    const permit = this.#permit;
    this.#permit = undefined;
    return permit;
  }

  /** Uses the intent for a call that leaves now. False if it is used, withdrawn or too old: record another. */
  async use(): Promise<boolean> {
    clearTimeout(this.#expiry);
    const isValid = this.#begunAt !== undefined && performance.now() - this.#begunAt <= INTENT_MAX_AGE_MS;
    this.#begunAt = undefined;
    await this.#withdrawal;
    return isValid;
  }

  /** Gives its permit back, and withdraws the intent if no call used it: then nobody looks for the reply. */
  async withdraw(): Promise<void> {
    void releaseUnused(this.takePermit());
    const isUnused = this.#begunAt !== undefined;
    // Without the lease, the row belongs to the process that has the thread now.
    if (isUnused && this.#work.lease.remainingMs() > 0) {
      this.#begunAt = undefined;
      // A withdrawal that fails is not repeated: the next call records another intent.
      this.#withdrawal = this.#work.deps.store.posts.delete(this.#turn, replyPart(0)).finally(() => {
        this.#withdrawal = undefined;
      });
    }
    await this.#withdrawal;
  }
}
