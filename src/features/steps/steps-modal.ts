import { AgentError, AgentNotFoundError } from '../../agent/errors.ts';
import { controlRefusal, useOnTurn } from '../../relay/access/control-permission.ts';
import { toReplyBlock } from '../../relay/replies/reply-blocks.ts';
import { type ControlRequest, turnOf } from '../../relay/runtime/control-types.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { toolSteps } from '../../render/messages/tool-steps.ts';
import * as strings from '../../render/strings/index.ts';
import { taskIdOf } from '../../store/threads/turns.ts';
import { type ModalOutcome, openAndFillModal } from '../open-modal.ts';
import { type StepsView, stepsNoticeView, stepsView } from './steps-view.ts';

/** A press on a button that shows a turn's steps. */
export interface StepsPress extends ControlRequest {
  /** From 0. */
  page: number;
  /** Opens a modal, or updates the one that is open. */
  modal: { triggerId: string } | { viewId: string };
}

/** The modal with the steps of a turn, read from the service when it opens. */
export class StepsModal {
  readonly #deps: RelayDeps;

  constructor(deps: RelayDeps) {
    this.#deps = deps;
  }

  /** Opens the modal with the steps or a refusal, or shows another page in it. Throws a SlackError. */
  async show(press: StepsPress): Promise<ModalOutcome> {
    const { modal, workspace } = press;
    if ('triggerId' in modal) {
      const trigger = { workspace, triggerId: modal.triggerId };
      return openAndFillModal(this.#deps, trigger, stepsNoticeView, strings.stepsUnavailable, () =>
        this.#renderView(press),
      );
    }
    const views = this.#deps.workspace(workspace)?.views;
    if (views === undefined) return 'unknown';
    await views.update(modal.viewId, await this.#renderView(press));
    return 'done';
  }

  async #renderView(press: StepsPress): Promise<StepsView> {
    const { turnId, person, page } = press;
    const { store } = this.#deps;
    const turn = await turnOf(store, press);
    if (turn === undefined) return stepsNoticeView(strings.stepsNotFound);
    const use = { ...useOnTurn(turn, person, 'steps'), isReadOnly: true };
    const refusal = await controlRefusal(this.#deps, use);
    if (refusal !== undefined) return stepsNoticeView(refusal);
    if (turn.assistant_message_id === null) return stepsNoticeView(strings.stepsNotFound);
    const thread = await store.threads.getOrThrow(turn);
    const taskId = taskIdOf(turn, thread);
    if (taskId === null) return stepsNoticeView(strings.stepsNotFound);
    try {
      const message = await this.#deps.agent(thread.account_id).getMessage(taskId, turn.assistant_message_id);
      return stepsView(toolSteps(message.content.map(toReplyBlock)), turnId, page);
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      if (error instanceof AgentNotFoundError) return stepsNoticeView(strings.stepsNotFound);
      this.#deps.log.warn({ err: error, turn: turnId }, "could not read a turn's steps");
      return stepsNoticeView(strings.stepsUnavailable);
    }
  }
}
