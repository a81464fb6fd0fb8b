import type { ThreadKey } from '../store/threads.ts';
import type { RelayParts } from './context.ts';
import type { Admission } from './inbox.ts';

/** The mark of a message that waits its turn. */
export const waitingMark = 'hourglass_flowing_sand';

/** The small signs that answer people at once; none of them holds an acknowledgement up. */
export class Marks {
  readonly #parts: RelayParts;

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
      .unmarked(thread)
      .then((messages) => Promise.all(messages.map((message) => this.#mark(message))))
      .catch((error: unknown) => this.#parts.log.debug({ err: error }, 'marks were left out'));
  }

  /** Tells one person something that only they need to know. */
  async tell(
    press: { workspace: string; channel: string; person: string; threadTs: string | undefined },
    sentence: string,
  ): Promise<void> {
    const { channel, person, threadTs } = press;
    const posting = this.#parts.workspace(press.workspace)?.posting;
    await posting?.ephemeral({ channel, user: person, threadTs, message: { text: sentence } });
  }

  async #mark({ workspace, channel, ts }: { workspace: string; channel: string; ts: string }): Promise<void> {
    const key = { workspace, channel, ts };
    const posting = this.#parts.workspace(workspace)?.posting;
    if (posting === undefined) return;
    if (!(await posting.react({ channel, ts, name: waitingMark }))) return;
    await this.#parts.store.messages.setMarked(key, true);
    // Its turn may have begun meanwhile, and found no mark to take away.
    const message = await this.#parts.store.messages.get(key);
    const turn = await this.#parts.store.turns.ofMessage(key);
    if (message?.state === 'waiting' && turn === undefined) return;
    await posting.unreact({ channel, ts, name: waitingMark });
  }
}
