import { lateDeletionNote, lateEditNote } from '../../render/messages/button-notes.ts';
import type { MessageKey } from '../../store/keys.ts';
import type { ChannelActor } from '../runtime/control-request.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import type { InboxOutcome } from '../runtime/incoming-message.ts';
import { sendEphemeral } from '../runtime/private-messages.ts';

/** Answers people who edit or delete a message that the agent already has: an ephemeral note with a button. */
export class LateEdits {
  readonly #deps: RelayDeps;

  constructor(deps: RelayDeps) {
    this.#deps = deps;
  }

  /** `message.person` is '' if Slack does not name the editor: then nobody gets a note. Throws a SlackError. */
  async onInboxOutcome(outcome: InboxOutcome, message: ChannelActor & MessageKey): Promise<void> {
    if (outcome.kind !== 'too_late' || message.person === '') return;
    const { change } = outcome;
    const turn = await this.#deps.store.turns.ofMessage(message);
    if (turn === undefined) return;
    const isAnswered = turn.settled_at !== null;
    if (change === 'deletion' && isAnswered) return;
    const note = change === 'edit' ? lateEditNote(turn.id, isAnswered) : lateDeletionNote(turn.id);
    await sendEphemeral(this.#deps, { ...message, threadTs: turn.thread_ts }, note);
  }
}
