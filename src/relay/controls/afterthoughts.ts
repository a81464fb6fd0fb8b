import { correctionNote, deletionNote } from '../../reply/notes.ts';
import type { Admission } from '../arriving/arrivals.ts';
import type { RelayParts } from '../context.ts';
import { tell } from '../telling.ts';

/** A message that was changed after it was sent. */
export interface ChangedMessage {
  workspace: string;
  channel: string;
  ts: string;
  /** Who changed it; '' where Slack did not say. */
  person: string;
}

/** Answers people who change a message that the agent has already: a note that only they see, with a button. */
export class Afterthoughts {
  readonly #parts: RelayParts;

  constructor(parts: RelayParts) {
    this.#parts = parts;
  }

  /** Never holds an acknowledgement up, and never fails: the note is an offer. */
  admitted(admission: Admission, message: ChangedMessage): void {
    if (admission.kind !== 'too_late' || message.person === '') return;
    this.#offer(admission.change, message).catch((error: unknown) => {
      this.#parts.log.debug({ err: error }, 'a note on a changed message was left out');
    });
  }

  async #offer(change: 'edit' | 'deletion', message: ChangedMessage): Promise<void> {
    const turn = await this.#parts.store.turns.ofMessage(message);
    if (turn === undefined) return;
    if (change === 'deletion' && turn.settled_at !== null) return;
    const note = change === 'edit' ? correctionNote(turn.id) : deletionNote(turn.id);
    await tell(this.#parts, { ...message, threadTs: turn.root }, note);
  }
}
