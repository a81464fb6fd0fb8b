import { setTimeout as sleep } from 'node:timers/promises';
import type { MessageKey, ThreadKey } from '../../store/keys.ts';
import type { Admission } from '../arriving/arrivals.ts';
import type { RelayParts } from '../context.ts';

/** The mark of a message that waits its turn. */
export const waitingMark = 'hourglass_flowing_sand';

/** Marks in a workspace at one time: Slack lets us take about 17 a minute away, so the last is gone in time. */
const mostMarks = 5;
/** A workspace with enough marks is not looked at again for so long (ms). */
const fullMs = 1_000;
/** How many marks are taken away in one go, and the pause (ms) after a go that left some. */
const mostTidied = 50;
const tidyPauseMs = 2_000;

/** The small signs that answer people at once; none of them holds an acknowledgement up. */
export class Marks {
  readonly #parts: RelayParts;
  #noting: Promise<unknown> = Promise.resolve();
  #tidying = false;
  #tidyAgain = false;
  /** Workspaces that had enough marks a moment ago. */
  readonly #full = new Set<string>();

  constructor(parts: RelayParts) {
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

  /** Takes the marks away of messages that do not wait any more, however long that takes. */
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
      const wrong = await this.#parts.store.messages.wronglyMarked(mostTidied);
      left = 0;
      for (const key of wrong) if (!(await this.#unmark(key))) left += 1;
    }
  }

  async #unmark(key: MessageKey): Promise<boolean> {
    const posting = this.#parts.workspace(key.workspace)?.posting;
    if (posting === undefined) return true;
    const { channel, ts } = key;
    if (!(await posting.unreact({ channel, ts, name: waitingMark }))) return false;
    await this.#parts.store.messages.setMarked(key, false);
    return true;
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
      if ((await messages.marked(key.workspace)) >= mostMarks) {
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
