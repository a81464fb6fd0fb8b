import { lateDeletionNote, lateEditNote } from '../../render/messages/button-notes.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import { sendEphemeral } from '../runtime/ephemeral-messages.ts';
import type { InboxOutcome } from '../runtime/incoming-message.ts';

/** A message that was changed after it was sent. */
export interface ChangedMessage {
  workspace: string;
  channel: string;
  ts: string;
  /** Who changed it; '' where Slack did not say. */
  person: string;
}

/** Answers people who change a message that the agent has already: a note that only they see, with a button. */
export class LateEdits {
  readonly #deps: RelayDeps;

  constructor(deps: RelayDeps) {
    this.#deps = deps;
  }

  /** Never holds an acknowledgement up, and never fails: the note is an offer. */
  onInboxOutcome(inboxOutcome: InboxOutcome, message: ChangedMessage): void {
    if (inboxOutcome.kind !== 'too_late' || message.person === '') return;
    this.#offerNote(inboxOutcome.change, message).catch((error: unknown) => {
      this.#deps.log.debug({ err: error }, 'a note on a changed message was left out');
    });
  }

  async #offerNote(change: 'edit' | 'deletion', message: ChangedMessage): Promise<void> {
    const turn = await this.#deps.store.turns.ofMessage(message);
    if (turn === undefined) return;
    if (change === 'deletion' && turn.settled_at !== null) return;
    const note = change === 'edit' ? lateEditNote(turn.id) : lateDeletionNote(turn.id);
    await sendEphemeral(this.#deps, { ...message, threadTs: turn.root }, note);
  }
}
