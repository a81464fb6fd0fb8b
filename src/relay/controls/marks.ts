import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Posting, ReactionOutcome } from '../../slack/posting.ts';
import type { MessageKey, ThreadKey } from '../../store/keys.ts';
import type { Store } from '../../store/store.ts';
import type { Admission } from '../arriving/arrivals.ts';
import { isOverdue } from '../patience.ts';

/** The mark of a message that waits its turn. */
export const waitingMark = 'hourglass_flowing_sand';

/** Marks in a workspace at one time: Slack lets us take about 17 a minute away, so the last is gone in time. */
const mostMarks = 5;
/** A workspace with enough marks is not looked at again for so long (ms). */
const fullMs = 1_000;
/** How many marks are taken away in one go, and the pause (ms) after a go that left some. */
const mostTidied = 50;
const tidyPauseMs = 2_000;
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
  workspace(id: string): { posting: Pick<Posting, 'react' | 'unreact'> } | undefined;
}

/** The small signs that answer people at once; none of them holds an acknowledgement up. */
export class Marks {
  readonly #parts: MarksParts;
  #noting: Promise<unknown> = Promise.resolve();
  #tidying = false;
  #tidyAgain = false;
  /** Workspaces that had enough marks a moment ago. */
  readonly #full = new Set<string>();
  readonly #late = new Map<string, LateMark>();

  constructor(parts: MarksParts) {
    this.#parts = parts;
  }

  /** A message that waits its turn carries a mark until its turn begins. */
  admitted(admission: Admission, message: { workspace: string; channel: string; ts: string }): void {
    if (admission.kind !== 'admitted' || !admission.waits) return;
    this.#mark(message).catch((error: unknown) =>
      this.#parts.log.debug({ err: error }, 'a mark was left out'),
    );
  }

  /** Marks what waits in a thread behind the turn that begins, and has no mark yet. */
  waiting(thread: ThreadKey): void {
    this.#parts.store.messages
      .unmarked(thread, mostMarks)
      .then((messages) => Promise.all(messages.map((message) => this.#mark(message))))
      .catch((error: unknown) => this.#parts.log.debug({ err: error }, 'marks were left out'));
  }

  /** Takes the marks away of messages that do not wait any more. */
  tidy(): void {
    this.#tidyAgain = true;
    if (this.#tidying) return;
    this.#tidying = true;
    this.#tidyAll()
      .catch((error: unknown) =>
        this.#parts.log.debug({ err: error }, 'marks stay until the next turn begins'),
      )
      .finally(() => {
        this.#tidying = false;
      });
  }

  async #tidyAll(): Promise<void> {
    let left = 0;
    while (this.#tidyAgain || left > 0) {
      this.#tidyAgain = false;
      if (left > 0) await sleep(tidyPauseMs, undefined, { ref: false });
      // Those that are left alone must not stand in the way of others.
      const most = mostTidied + this.#late.size;
      const wrong = await this.#parts.store.messages.wronglyMarked(most);
      if (wrong.length < most) this.#forgetLate(wrong);
      left = 0;
      for (const key of wrong) if (!(await this.#unmark(key))) left += 1;
    }
  }

  /** True where the mark is gone, given up, or left to upkeep. */
  async #unmark(key: MessageKey): Promise<boolean> {
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
    if (outcome !== 'done') this.#parts.log.warn({ ...key, outcome }, 'a mark is given up; it stays');
    await this.#parts.store.messages.setMarked(key, false);
    this.#late.delete(name);
    return true;
  }

  async #takeAway({ workspace, channel, ts }: MessageKey): Promise<ReactionOutcome> {
    try {
      const posting = this.#parts.workspace(workspace)?.posting;
      return (await posting?.unreact({ channel, ts, name: waitingMark })) ?? 'later';
    } catch (error) {
      this.#parts.log.debug({ err: error }, 'a mark could not be taken away');
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

  async #mark({ workspace, channel, ts }: MessageKey): Promise<void> {
    const key = { workspace, channel, ts };
    const { messages, turns } = this.#parts.store;
    const posting = this.#parts.workspace(workspace)?.posting;
    if (posting === undefined || !(await this.#note(key))) return;
    await posting.react({ channel, ts, name: waitingMark });
    const message = await messages.get(key);
    if (message?.state === 'waiting' && (await turns.ofMessage(key)) === undefined) return;
    // Its turn began meanwhile, and perhaps found no mark to take away.
    await messages.setMarked(key, true);
    this.tidy();
  }

  /** Notes a mark before it is set: whoever begins the turn must know of it. False where there are enough. */
  async #note(key: MessageKey): Promise<boolean> {
    const { messages } = this.#parts.store;
    if (this.#full.has(key.workspace)) return false;
    // One after the other, so that the count is right.
    const noted = this.#noting.then(async () => {
      if (this.#full.has(key.workspace)) return false;
      if ((await messages.marked(key.workspace)) - this.#stuckIn(key.workspace) >= mostMarks) {
        this.#full.add(key.workspace);
        setTimeout(() => this.#full.delete(key.workspace), fullMs).unref();
        return false;
      }
      await messages.setMarked(key, true);
      return true;
    });
    this.#noting = noted.catch(() => undefined);
    return noted;
  }
}

function nameOf({ workspace, channel, ts }: MessageKey): string {
  return `${workspace}/${channel}/${ts}`;
}

function isStuck({ since }: LateMark): boolean {
  return isOverdue(since, stuckMs);
}
