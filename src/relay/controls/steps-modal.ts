import { AgentError, AgentNotFoundError } from '../../agent/errors.ts';
import { steps } from '../../reply/progress.ts';
import { type StepsView, stepsNotice, stepsView } from '../../reply/steps-view.ts';
import * as words from '../../reply/words.ts';
import { taskIdOf } from '../../store/turns.ts';
import type { RelayParts } from '../context.ts';
import { replyBlock } from '../showing/rendered.ts';
import { type Opened, openAndFill } from '../windows.ts';
import { type ControlRequest, turnOf } from './control.ts';
import { refusalOf } from './permission.ts';

/** A press on a button that shows a turn's steps, and where they are to be shown. */
export interface StepsPress extends ControlRequest {
  /** From 0. */
  page: number;
  /** Opens a modal, or names the one that is open. */
  modal: { triggerId: string } | { viewId: string };
}

/** The modal with the steps of a turn: read from the service, whoever wrote the reply and however long ago. */
export class StepsModal {
  readonly #parts: RelayParts;

  constructor(parts: RelayParts) {
    this.#parts = parts;
  }

  /** Opens the modal and fills it, with the steps or a refusal; or turns its page. Throws a SlackError. */
  async show(press: StepsPress): Promise<Opened> {
    const { modal, workspace } = press;
    if ('triggerId' in modal) {
      const said = { notice: stepsNotice, failed: words.stepsAway };
      const at = { workspace, triggerId: modal.triggerId };
      return openAndFill(this.#parts, at, said, () => this.#view(press));
    }
    const views = this.#parts.workspace(workspace)?.views;
    if (views === undefined) return 'unknown';
    await views.update(modal.viewId, await this.#view(press));
    return 'done';
  }

  async #view(press: StepsPress): Promise<StepsView> {
    const { workspace, turnId, person, page } = press;
    const { store } = this.#parts;
    const turn = await turnOf(store, press);
    if (turn === undefined) return stepsNotice(words.stepsGone);
    const { channel, root } = turn;
    const use = { workspace, channel, root, person, turn, control: 'steps', harmless: true };
    const refusal = await refusalOf(this.#parts, use);
    if (refusal !== undefined) return stepsNotice(refusal);
    if (turn.assistant_message_id === null) return stepsNotice(words.stepsGone);
    const thread = await store.threads.expect(turn);
    const taskId = taskIdOf(turn, thread);
    if (taskId === null) return stepsNotice(words.stepsGone);
    try {
      const message = await this.#parts.agent(thread.account).getMessage(taskId, turn.assistant_message_id);
      return stepsView(steps(message.content.map(replyBlock)), { turnId, page });
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      if (error instanceof AgentNotFoundError) return stepsNotice(words.stepsGone);
      this.#parts.log.warn({ err: error, turn: turnId }, 'the steps of a turn cannot be read');
      return stepsNotice(words.stepsAway);
    }
  }
}
