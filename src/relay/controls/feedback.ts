import { commentView, feedbackThanks } from '../../reply/feedback.ts';
import type { Turn } from '../../store/tables.ts';
import type { RelayParts } from '../context.ts';
import type { ControlOutcome, ControlRequest } from './controls.ts';
import { permits } from './permission.ts';

/** What people think of answers: a thumb of each person on each, and a comment where they like. */
export class Feedback {
  readonly #parts: RelayParts;

  constructor(parts: RelayParts) {
    this.#parts = parts;
  }

  /** Takes a thumb, in place of the person's earlier one. */
  async give({ good, ...request }: ControlRequest & { good: boolean }): Promise<ControlOutcome> {
    const turn = await this.#permitted(request);
    if (typeof turn === 'string') return turn;
    const { workspace, turnId, person } = request;
    await this.#parts.store.feedback.give({ workspace, turn: turnId, person }, good);
    this.#parts.log.info({ turn: turnId, good }, 'feedback given');
    this.#thank(turn, person).catch((error: unknown) =>
      this.#parts.log.debug({ err: error }, 'thanks for feedback were left out'),
    );
    return 'done';
  }

  /** Opens the modal for a comment. Throws a SlackError. */
  async ask({
    triggerId,
    ...request
  }: ControlRequest & { triggerId: string }): Promise<ControlOutcome | 'late'> {
    const { workspace, turnId, person } = request;
    const turn = await this.#permitted(request);
    if (typeof turn === 'string') return turn;
    const given = await this.#parts.store.feedback.get({ workspace, turn: turnId, person });
    const view = commentView(turnId, given?.comment ?? null);
    const opened = await this.#parts.workspace(workspace)?.views.open(triggerId, view);
    return opened === undefined ? 'late' : 'done';
  }

  /** Keeps a comment with the person's thumb; false where there is none any more. */
  async comment({ workspace, turnId, person }: ControlRequest, words: string): Promise<boolean> {
    return this.#parts.store.feedback.comment({ workspace, turn: turnId, person }, words);
  }

  async #permitted({ workspace, turnId, person }: ControlRequest): Promise<Turn | 'unknown' | 'refused'> {
    const turn = await this.#parts.store.turns.get(workspace, turnId);
    if (turn === undefined) return 'unknown';
    const { channel, root } = turn;
    const use = { workspace, channel, root, person, turn, control: 'feedback', harmless: true };
    return (await permits(this.#parts, use)) ? turn : 'refused';
  }

  async #thank({ workspace, channel, root, id }: Turn, person: string): Promise<void> {
    const message = feedbackThanks(id);
    const posting = this.#parts.workspace(workspace)?.posting;
    await posting?.ephemeral({ channel, user: person, threadTs: root, message });
  }
}
