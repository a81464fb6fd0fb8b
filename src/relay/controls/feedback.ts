import { commentNotice, commentView, feedbackThanks } from '../../reply/feedback.ts';
import * as words from '../../reply/words.ts';
import type { Turn } from '../../store/tables.ts';
import type { RelayParts } from '../context.ts';
import { tryToTell } from '../telling.ts';
import { type Opened, openAndFill, type WindowPlace } from '../windows.ts';
import { type ControlOutcome, type ControlRequest, turnOf } from './control.ts';
import { type ControlUse, permits, refusalOf } from './permission.ts';

/** What people think of answers: a thumb of each person on each, and a comment where they like. */
export class Feedback {
  readonly #parts: RelayParts;

  constructor(parts: RelayParts) {
    this.#parts = parts;
  }

  /** Takes a thumb, in place of the person's earlier one. */
  async give({ good, ...request }: ControlRequest & { good: boolean }): Promise<ControlOutcome> {
    const { workspace, turnId, person } = request;
    const turn = await turnOf(this.#parts.store, request);
    if (turn === undefined) return 'unknown';
    if (!(await permits(this.#parts, useOf(turn, person)))) return 'refused';
    await this.#parts.store.feedback.give({ workspace, turn: turnId, person }, good);
    this.#parts.log.info({ turn: turnId, good }, 'feedback given');
    const { channel, root: threadTs } = turn;
    tryToTell(this.#parts, { workspace, channel, person, threadTs }, feedbackThanks(turnId));
    return 'done';
  }

  /** Opens the modal for a comment, which says where that is refused. Throws a SlackError. */
  async ask(request: ControlRequest & WindowPlace): Promise<Opened> {
    const said = { notice: commentNotice, failed: words.command.away };
    return openAndFill(this.#parts, request, said, () => this.#view(request));
  }

  async #view(request: ControlRequest): Promise<object> {
    const { workspace, turnId, person } = request;
    const turn = await turnOf(this.#parts.store, request);
    if (turn === undefined) return commentNotice(words.controlOver.unknown);
    const refusal = await refusalOf(this.#parts, useOf(turn, person));
    if (refusal !== undefined) return commentNotice(refusal);
    const given = await this.#parts.store.feedback.get({ workspace, turn: turnId, person });
    return commentView(turnId, given?.comment ?? null);
  }

  /** Keeps a comment with the person's thumb; false where there is none any more. */
  async comment(
    { workspace, turnId, person }: Omit<ControlRequest, 'channel'>,
    words: string,
  ): Promise<boolean> {
    return this.#parts.store.feedback.comment({ workspace, turn: turnId, person }, words);
  }
}

function useOf(turn: Turn, person: string): ControlUse {
  const { workspace, channel, root } = turn;
  return { workspace, channel, root, person, turn, control: 'feedback', harmless: true };
}
