import { AgentError, AgentNotFoundError } from '../../agent/errors.ts';
import { toolSteps } from '../../reply/progress.ts';
import { type StepsView, stepsNoticeView, stepsView } from '../../reply/steps-view.ts';
import * as words from '../../reply/words.ts';
import { taskIdOf } from '../../store/turns.ts';
import type { RelayDeps } from '../context.ts';
import { toReplyBlock } from '../showing/rendered.ts';
import { type ModalOutcome, openAndFillModal } from '../windows.ts';
import { type ControlRequest, turnOf } from './control.ts';
import { controlRefusal } from './permission.ts';

/** A press on a button that shows a turn's steps, and where they are to be shown. */
export interface StepsPress extends ControlRequest {
  /** From 0. */
  page: number;
  /** Opens a modal, or names the one that is open. */
  modal: { triggerId: string } | { viewId: string };
}

/** The modal with the steps of a turn: read from the service, whoever wrote the reply and however long ago. */
export class StepsModal {
  readonly #deps: RelayDeps;

  constructor(deps: RelayDeps) {
    this.#deps = deps;
  }

  /** Opens the modal and fills it, with the steps or a refusal; or turns its page. Throws a SlackError. */
  async show(press: StepsPress): Promise<ModalOutcome> {
    const { modal, workspace } = press;
    if ('triggerId' in modal) {
      const texts = { notice: stepsNoticeView, failed: words.stepsAway };
      const location = { workspace, triggerId: modal.triggerId };
      return openAndFillModal(this.#deps, location, texts, () => this.#renderView(press));
    }
    const views = this.#deps.workspace(workspace)?.views;
    if (views === undefined) return 'unknown';
    await views.update(modal.viewId, await this.#renderView(press));
    return 'done';
  }

  async #renderView(press: StepsPress): Promise<StepsView> {
    const { workspace, turnId, person, page } = press;
    const { store } = this.#deps;
    const turn = await turnOf(store, press);
    if (turn === undefined) return stepsNoticeView(words.stepsGone);
    const { channel, root } = turn;
    const use = { workspace, channel, root, person, turn, control: 'steps', harmless: true };
    const refusal = await controlRefusal(this.#deps, use);
    if (refusal !== undefined) return stepsNoticeView(refusal);
    if (turn.assistant_message_id === null) return stepsNoticeView(words.stepsGone);
    const thread = await store.threads.getOrThrow(turn);
    const taskId = taskIdOf(turn, thread);
    if (taskId === null) return stepsNoticeView(words.stepsGone);
    try {
      const message = await this.#deps.agent(thread.account).getMessage(taskId, turn.assistant_message_id);
      return stepsView(toolSteps(message.content.map(toReplyBlock)), { turnId, page });
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      if (error instanceof AgentNotFoundError) return stepsNoticeView(words.stepsGone);
      this.#deps.log.warn({ err: error, turn: turnId }, 'the steps of a turn cannot be read');
      return stepsNoticeView(words.stepsAway);
    }
  }
}
